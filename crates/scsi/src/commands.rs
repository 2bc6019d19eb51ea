//! The commands, one file each. Each is a value: see [`crate::Command`].

mod access_order;
mod decode_any;
mod exchange_medium;
mod initialize_element_status;
mod inquiry;
mod load_unload;
mod locate;
mod log_sense;
mod mode;
mod move_medium;
mod persistent_reserve;
mod position_to_element;
mod prevent_allow;
mod read;
mod read_attribute;
mod read_block_limits;
mod read_element_status;
mod read_end_of_wrap_position;
mod read_position;
mod report_density_support;
mod report_luns;
mod report_supported_opcodes;
mod request_sense;
mod reserve_unit;
mod rewind;
mod space;
mod tape_alert;
mod test_unit_ready;
mod timeouts;
mod vpd;
mod write;
mod write_filemarks;

pub use crate::device_kind::DeviceKind;
pub use crate::reservation_type::ReservationType;
pub use access_order::{
    AccessOrder, AccessOrderLimits, AccessOrderProcess, GenerateAccessOrder, OrderedSegment,
    ReceiveAccessOrder, ReceiveAccessOrderLimits, Segment,
};
pub use decode_any::{DECODERS, DecodeAnyError, Decoder, decode_any};
pub use exchange_medium::ExchangeMedium;
pub use initialize_element_status::{InitializeElementStatus, InitializeElementStatusRange};
pub use inquiry::{Inquiry, InquiryData};
pub use load_unload::LoadUnload;
pub use locate::{Destination, Locate10, Locate16};
pub use log_sense::{
    DeviceStatistics, LogPage, LogParameter, LogSense, SequentialAccess, TapeCapacity,
    VolumeStatistics,
};
pub use mode::{
    BlockDescriptor, Compression, DeviceConfiguration, ElementAddresses, ElementRange, ModeData,
    ModePage, ModeSelect6, ModeSelectPage, ModeSense6, ModeSense10, Partitions,
};
pub use move_medium::MoveMedium;
pub use persistent_reserve::{Keys, PersistentReserveOut, ReadKeys, ReadReservation, Reservation};
pub use position_to_element::PositionToElement;
pub use prevent_allow::PreventAllow;
pub use read::{ReadBlock, ReadOutcome};
pub use read_attribute::{
    Attribute, AttributeList, AttributeValue, ReadAttributeList, ReadAttributes,
};
pub use read_block_limits::{BlockLimits, ReadBlockLimits};
pub use read_element_status::{DeviceId, Element, ElementKind, ReadElementStatus, element_status};
pub use read_end_of_wrap_position::{EndOfWrap, ReadEndOfWrapPosition, ReadEndOfWrapPositions};
pub use read_position::{
    BufferedPosition, LongPosition, ReadPositionExtended, ReadPositionLong, ReadPositionShort,
};
pub use report_density_support::{Density, ReportDensitySupport};
pub use report_luns::{Luns, ReportLuns};
pub use report_supported_opcodes::{
    CommandTimeouts, OpcodeSupport, ReportSupportedOpcode, ReportSupportedOpcodes, SupportedOpcode,
};
pub use request_sense::RequestSense;
pub use reserve_unit::{ReleaseUnit, ReserveUnit};
pub use rewind::Rewind;
pub use space::{Over, Space6, Space16};
pub use tape_alert::TapeAlerts;
pub use test_unit_ready::TestUnitReady;
pub use vpd::{Designator, InquiryVpd, VpdPage};
pub use write::{Write6, WriteOutcome};
pub use write_filemarks::WriteFilemarks;
