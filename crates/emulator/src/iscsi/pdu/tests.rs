//! Headers in hex, as open-iscsi and libiscsi send them, and as they take ours.

use super::*;

fn header(hex: &str) -> [u8; HEADER] {
    let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
    let mut bytes = [0; HEADER];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    }
    bytes
}

#[test]
fn a_login_request_is_taken_apart() {
    let bytes = header(
        "43 87 00 00 00 00 00 9a 80 12 34 56 00 00 00 00 00 00 00 2a 00 01 00 00 00 00 00 07 00 00 00 00 \
         00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00",
    );
    let order = CommandNumber {
        immediate: true,
        number: 7,
    };
    let expected = Login {
        transits: true,
        continues: false,
        stage: 1,
        next_stage: 3,
        version_min: 0,
        isid: [0x80, 0x12, 0x34, 0x56, 0, 0],
        session: 0,
        task: 0x2a,
        connection: 1,
        order,
    };
    assert_eq!(Request::decode(&bytes), Request::Login(expected));
    assert_eq!(
        Lengths::of(&bytes),
        Lengths {
            additional: 0,
            data: 0x9a
        }
    );
}

#[test]
fn a_write_command_is_taken_apart_and_its_cdb_has_the_length_of_its_group() {
    let bytes = header(
        "01 a0 00 00 00 00 10 00 00 01 00 00 00 00 00 00 00 00 00 05 00 04 00 00 00 00 00 09 00 00 00 03 \
         0a 00 04 00 00 00 00 00 00 00 00 00 00 00 00 00",
    );
    let Request::Command(command) = Request::decode(&bytes) else {
        panic!("not a command");
    };
    assert!(command.is_final && command.writes && !command.reads);
    assert_eq!(unit_number(command.lun), Some(1));
    assert_eq!(
        (command.task, command.expected, command.order.number),
        (5, 0x4_0000, 9)
    );
    assert_eq!(command.cdb().bytes(), [0x0a, 0, 4, 0, 0, 0]);
}

#[test]
fn data_out_logout_and_strange_headers_are_told_apart() {
    let data = header(
        "05 80 00 00 00 00 02 00 00 00 00 00 00 00 00 00 00 00 00 05 00 00 00 11 00 00 00 00 00 00 00 03 \
         00 00 00 00 00 00 00 02 00 00 40 00 00 00 00 00",
    );
    let expected = DataOut {
        is_final: true,
        task: 5,
        target_task: 0x11,
        offset: 0x4000,
    };
    assert_eq!(Request::decode(&data), Request::DataOut(expected));
    assert_eq!(Request::decode(&header("1f")), Request::Unknown(0x1f));
    let logout = Request::decode(&header("46 80"));
    assert!(
        matches!(logout, Request::Logout(Logout { reason: 0, .. })),
        "{logout:?}"
    );
}

#[test]
fn unit_numbers_come_in_two_forms_and_no_other() {
    assert_eq!(unit_number(0x0003_0000_0000_0000), Some(3));
    assert_eq!(unit_number(0x4003_0000_0000_0000), Some(3));
    assert_eq!(unit_number(0x8003_0000_0000_0000), None);
    assert_eq!(unit_number(0x0003_0001_0000_0000), None);
}

#[test]
fn a_response_with_residual_is_put_together() {
    let response = Response::Scsi {
        task: 5,
        status: 2,
        response: 0,
        residual: Residual::of(256, 36),
        data_sent: 1,
    };
    let numbers = Numbers {
        status: 3,
        expected_command: 10,
        most_command: 41,
    };
    let bytes = header(
        "21 82 00 02 00 00 00 14 00 00 00 00 00 00 00 00 00 00 00 05 00 00 00 00 00 00 00 03 00 00 00 0a \
         00 00 00 29 00 00 00 01 00 00 00 00 00 00 00 dc",
    );
    assert_eq!(response.encode(numbers, 0x14), bytes);
}

#[test]
fn data_in_carries_the_status_only_at_the_end() {
    let part = |is_final, status| Response::DataIn {
        lun: 0x0001_0000_0000_0000,
        task: 7,
        number: 1,
        offset: 0x2000,
        is_final,
        status,
    };
    let numbers = Numbers {
        status: 3,
        expected_command: 10,
        most_command: 41,
    };
    let middle = part(false, None).encode(numbers, 0x2000);
    assert_eq!(middle[..8], [0x25, 0, 0, 0, 0, 0, 0x20, 0]);
    assert_eq!(middle[24..28], [0; 4], "no status number without a status");
    let last = part(true, Some(Residual::Under(1))).encode(numbers, 16);
    assert_eq!(last[1], 0x83);
    assert_eq!(last[24..28], [0, 0, 0, 3]);
    assert_eq!(last[44..48], [0, 0, 0, 1]);
}

#[test]
fn ready_to_transfer_asks_for_a_stretch() {
    let bytes = Response::ReadyToTransfer {
        lun: 0,
        task: 9,
        target_task: 2,
        number: 0,
        offset: 0x1_0000,
        length: 0x4_0000,
    }
    .encode(Numbers::default(), 0);
    assert_eq!(bytes[..2], [0x31, 0x80]);
    assert_eq!(bytes[16..24], [0, 0, 0, 9, 0, 0, 0, 2]);
    assert_eq!(bytes[40..48], [0, 1, 0, 0, 0, 4, 0, 0]);
}
