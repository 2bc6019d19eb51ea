//! Who a device is: INQUIRY and two pages of vital product data, which change nothing on it.

use crate::command::Command;
use crate::commands::{Designator, DeviceKind, Inquiry, InquiryVpd, VpdPage};
use crate::error::ScsiError;
use crate::transport::Transport;

/// Who a device is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Maker.
    pub vendor: String,
    /// Product.
    pub product: String,
    /// Firmware revision.
    pub revision: String,
    /// Serial number (VPD page 80h), where it has one.
    pub serial: Option<String>,
    /// Its names and those of its ports (VPD page 83h).
    pub designators: Vec<Designator>,
}

impl Identity {
    /// Asks a device that must be of this kind.
    ///
    /// # Errors
    /// [`ScsiError::WrongDevice`], and those of INQUIRY. A page it does not have is no error.
    pub fn ask(transport: &mut dyn Transport, expected: DeviceKind) -> Result<Identity, ScsiError> {
        let data = Inquiry.send(transport)?;
        if data.kind != expected {
            return Err(ScsiError::WrongDevice {
                found: data.kind,
                expected,
            });
        }
        let serial = match page(transport, VpdPage::SERIAL_NUMBER)? {
            Some(VpdPage::SerialNumber(serial)) if !serial.is_empty() => Some(serial),
            _ => None,
        };
        let designators = match page(transport, VpdPage::IDENTIFICATION)? {
            Some(VpdPage::Identification(designators)) => designators,
            _ => Vec::new(),
        };
        Ok(Identity {
            vendor: data.vendor,
            product: data.product,
            revision: data.revision,
            serial,
            designators,
        })
    }
}

/// A page, none where the device does not have it.
fn page(transport: &mut dyn Transport, page: u8) -> Result<Option<VpdPage>, ScsiError> {
    match (InquiryVpd { page }).send(transport) {
        Ok(page) => Ok(Some(page)),
        Err(error) if error.is_unsupported() => Ok(None),
        Err(error) => Err(error),
    }
}
