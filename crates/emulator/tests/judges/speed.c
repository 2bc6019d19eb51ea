/* Writes and reads a tape over libiscsi, one command at a time: speed PORTAL TARGET LUN BLOCK_BYTES MIB. cc -O2 speed.c -liscsi */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <iscsi/iscsi.h>
#include <iscsi/scsi-lowlevel.h>
static double now(){struct timespec t;clock_gettime(CLOCK_MONOTONIC,&t);return t.tv_sec+t.tv_nsec*1e-9;}
static int cmd(struct iscsi_context*c,int lun,unsigned char*cdb,int n,int dir,void*buf,int len){
 struct scsi_task*t=scsi_create_task(n,cdb,dir,len);struct iscsi_data d={len,buf};
 if(dir==SCSI_XFER_READ)scsi_task_add_data_in_buffer(t,len,buf);
 t=iscsi_scsi_command_sync(c,lun,t,dir==SCSI_XFER_WRITE?&d:NULL);if(!t){fprintf(stderr,"%s\n",iscsi_get_error(c));exit(1);}
 int s=t->status;scsi_free_scsi_task(t);return s;}
int main(int a,char**v){int lun=atoi(v[3]),bs=atoi(v[4]),mb=atoi(v[5]);struct iscsi_context*c=iscsi_create_context("iqn.2026-01.local.test:speed");
 iscsi_set_targetname(c,v[2]);iscsi_set_session_type(c,ISCSI_SESSION_NORMAL);iscsi_set_header_digest(c,ISCSI_HEADER_DIGEST_NONE);
 if(iscsi_connect_sync(c,v[1])||iscsi_login_sync(c)){fprintf(stderr,"%s\n",iscsi_get_error(c));return 1;}
 char*b=malloc(bs);for(int i=0;i<bs;i++)b[i]=random()>>7;unsigned char rew[6]={1},w[6]={0x0a,0,bs>>16,bs>>8,bs,0},r[6]={8,0,bs>>16,bs>>8,bs,0},tur[6]={0};
 int n=(long)mb*1048576/bs,bad=0;for(int i=0;i<600&&cmd(c,lun,tur,6,0,0,0);i++);cmd(c,lun,rew,6,0,0,0);double t=now();for(int i=0;i<n;i++)bad+=cmd(c,lun,w,6,SCSI_XFER_WRITE,b,bs)!=0;double tw=now()-t;
 cmd(c,lun,rew,6,0,0,0);t=now();for(int i=0;i<n;i++)bad+=cmd(c,lun,r,6,SCSI_XFER_READ,b,bs)!=0;double tr=now()-t;
 t=now();for(int i=0;i<5000;i++)cmd(c,lun,tur,6,0,0,0);double tt=now()-t;
 printf("bs=%d n=%d write %.1f MiB/s read %.1f MiB/s bad=%d TUR %.1f us\n",bs,n,mb/tw,mb/tr,bad,tt/5000*1e6);iscsi_logout_sync(c);iscsi_destroy_context(c);return 0;}
