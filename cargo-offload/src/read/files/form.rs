//! File formats by magic number: supported archives and compressed files, and unsupported ones.

/// An archive, a compressed file, or a file system in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Zip,
    Tar,
    Cpio,
    Rpm,
    /// A static archive, or a package of Debian's.
    Ar,
    /// A static archive that only names its members, which are other files.
    ThinAr,
    Compressed(Codec),
    /// One that is not read, by its name in the plural.
    Unread(&'static str),
}

/// Compression format of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Codec {
    Bzip2,
    Gzip,
    Lz4,
    Lzip,
    Lzma,
    Xz,
    Zstd,
}

/// Bytes that tell a form, and where they are.
struct Magic {
    at: usize,
    bytes: &'static [u8],
    form: Form,
}

const fn start(bytes: &'static [u8], form: Form) -> Magic {
    Magic { at: 0, bytes, form }
}

const fn unread(at: usize, bytes: &'static [u8], name: &'static str) -> Magic {
    Magic { at, bytes, form: Form::Unread(name) }
}

/// From the specifications <https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT> (zip),
/// <https://www.rfc-editor.org/rfc/rfc1952> (gzip), <https://www.rfc-editor.org/rfc/rfc8878> (zstd),
/// <https://tukaani.org/xz/xz-file-format.txt>, <https://www.nongnu.org/lzip/manual/lzip_manual.html#File-format>,
/// <https://github.com/lz4/lz4/blob/dev/doc/lz4_Frame_format.md>,
/// <https://pubs.opengroup.org/onlinepubs/9799919799/utilities/pax.html> (tar, cpio),
/// <https://docs.kernel.org/driver-api/early-userspace/buffer-format.html> (cpio),
/// <https://rpm-software-management.github.io/rpm/manual/format_lead.html>, and of what is not read from the
/// database of `file`: <https://github.com/file/file/tree/master/magic/Magdir> (`archive`, `compress`, `filesystems`, `cafebabe`,
/// `appimage`, `vmware`).
const MAGICS: &[Magic] = &[
    start(b"PK\x03\x04", Form::Zip),
    start(b"\x1f\x8b\x08", Form::Compressed(Codec::Gzip)),
    start(b"\x28\xb5\x2f\xfd", Form::Compressed(Codec::Zstd)),
    start(b"\xfd7zXZ\0", Form::Compressed(Codec::Xz)),
    start(b"LZIP\x01", Form::Compressed(Codec::Lzip)),
    start(b"\x04\x22\x4d\x18", Form::Compressed(Codec::Lz4)),
    start(b"\x02\x21\x4c\x18", Form::Compressed(Codec::Lz4)),
    start(b"070701", Form::Cpio),
    start(b"070702", Form::Cpio),
    start(b"070707", Form::Cpio),
    start(b"\xed\xab\xee\xdb", Form::Rpm),
    start(b"!<arch>\n", Form::Ar),
    start(b"!<thin>\n", Form::ThinAr),
    Magic { at: 257, bytes: b"ustar", form: Form::Tar },
    // An ELF file in the first place.
    unread(8, b"AI\x01", "AppImages"),
    unread(8, b"AI\x02", "AppImages"),
    unread(0, b"hsqs", "squashfs file systems"),
    unread(0, b"sqsh", "squashfs file systems"),
    unread(0, b"\x45\x3d\xcd\x28", "cramfs file systems"),
    unread(0, b"-rom1fs-", "romfs file systems"),
    unread(0, b"DWARFS\x02", "DwarFS file systems"),
    unread(0, b"XFSB", "XFS file systems"),
    unread(1024, b"\xe2\xe1\xf5\xe0", "EROFS file systems"),
    unread(1024, b"\x10\x20\xf5\xf2", "F2FS file systems"),
    unread(65_600, b"_BHRfS_M", "Btrfs file systems"),
    unread(3, b"NTFS    ", "NTFS file systems"),
    unread(54, b"FAT1", "FAT file systems"),
    unread(82, b"FAT32", "FAT file systems"),
    unread(32_769, b"CD001", "ISO 9660 file systems"),
    unread(512, b"EFI PART", "disk images"),
    unread(0, b"QFI\xfb", "QCOW disk images"),
    unread(0, b"KDMV", "VMDK disk images"),
    unread(0, b"vhdxfile", "VHDX disk images"),
    unread(0, b"conectix\0\0", "VHD disk images"),
    unread(0, b"<<< Oracle VM VirtualBox Disk Image >>>", "VDI disk images"),
    unread(0, b"LUKS\xba\xbe", "encrypted disk images"),
    unread(0, b"7z\xbc\xaf\x27\x1c", "7z archives"),
    unread(0, b"Rar!\x1a\x07", "RAR archives"),
    unread(0, b"MSCF\0\0\0\0", "cabinet archives"),
    unread(0, b"MSWIM\0\0\0", "WIM archives"),
    unread(0, b"xar!\0", "xar archives"),
    unread(0, b"\x0d\0\0\0\0\0\0\0nix-archive-1", "NAR archives"),
    unread(0, b"\xc7\x71", "cpio archives of the old binary form"),
    unread(0, b"\x71\xc7", "cpio archives of the old binary form"),
    unread(0, b"07070X", "cpio archives of RPM without names"),
    unread(0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "compound files, such as MSI packages,"),
    unread(0, b"PK\x07\x08", "zip archives of several parts"),
    unread(0, b"\x1f\x9d", "files of `compress`"),
    unread(0, b"\x89LZO\0\r\n\x1a\n", "files of `lzop`"),
    unread(0, b"\xff\x06\0\0sNaPpY", "Snappy frames"),
    unread(0, b"LRZI\0", "files of `lrzip`"),
    unread(0, b"age-encryption.org/", "files encrypted by `age`"),
    unread(0, b"-----BEGIN AGE ENCRYPTED FILE-----", "files encrypted by `age`"),
    unread(0, b"-----BEGIN PGP MESSAGE-----", "files encrypted by OpenPGP"),
    unread(0, b"Salted__", "files encrypted by `openssl enc`"),
];

/// Size of the start of a file that identifies file systems and disk images, whose magic numbers are not at offset 0.
pub(super) const DISK: u64 = 66_000;

impl Form {
    /// The form that the first bytes of a file tell. File systems are recognized by bytes up to [`DISK`].
    pub(super) fn detect(head: &[u8]) -> Option<Form> {
        let found = MAGICS
            .iter()
            .find(|magic| head.get(magic.at..).is_some_and(|rest| rest.starts_with(magic.bytes)))
            .map(|magic| magic.form);
        found.filter(|form| is_whole(*form, head)).or_else(|| without_magic(head))
    }
}

/// Few bytes, or bytes that a text may have, tell little alone.
fn is_whole(form: Form, head: &[u8]) -> bool {
    match form {
        Form::Cpio => is_cpio_header(head),
        Form::Unread("cpio archives of the old binary form") => {
            // The mode of a first member: a directory or a file.
            let mode = head.get(6..8).map(|mode| match head.first() {
                Some(0xc7) => mode.last(),
                _ => mode.first(),
            });
            matches!(mode, Some(Some(0x40..=0x41 | 0x80..=0x8f)))
        }
        Form::Unread("files of `compress`") => {
            head.get(2).is_some_and(|bits| (9..=16).contains(&(bits & 0x1f)))
        }
        Form::Unread("NTFS file systems" | "FAT file systems") => has_boot_sector(head),
        _ => true,
    }
}

/// Thirteen fields of eight digits, or fields of octal digits.
fn is_cpio_header(head: &[u8]) -> bool {
    match head.get(..6) {
        Some(b"070707") => {
            head.get(6..76).is_some_and(|fields| fields.iter().all(|c| (b'0'..=b'7').contains(c)))
        }
        _ => head.get(6..110).is_some_and(|fields| fields.iter().all(u8::is_ascii_hexdigit)),
    }
}

fn without_magic(head: &[u8]) -> Option<Form> {
    if is_bzip2(head) {
        Some(Form::Compressed(Codec::Bzip2))
    } else if is_lzma(head) {
        Some(Form::Compressed(Codec::Lzma))
    } else if is_skippable(head) {
        Some(Form::Compressed(Codec::Zstd))
    } else if is_old_tar(head) {
        Some(Form::Tar)
    } else if is_ext(head) {
        Some(Form::Unread("ext2, ext3 and ext4 file systems"))
    } else {
        None
    }
}

/// A block, or the end of a stream without any (<https://en.wikipedia.org/wiki/Bzip2#File_format>).
fn is_bzip2(head: &[u8]) -> bool {
    let block: &[&[u8]] = &[b"\x31\x41\x59\x26\x53\x59", b"\x17\x72\x45\x38\x50\x90"];
    match head {
        [b'B', b'Z', b'h', b'1'..=b'9', rest @ ..] => block.iter().any(|magic| rest.starts_with(magic)),
        _ => false,
    }
}

/// There is no magic: the properties that compressors write, a size of the dictionary as `xz` accepts it, a size that a file
/// can have, and the first byte of the range coder (<https://github.com/tukaani-project/xz/blob/master/doc/lzma-file-format.txt>).
fn is_lzma(head: &[u8]) -> bool {
    let Some(dictionary) = little_endian(head, 1..5) else { return false };
    let Some(size) = little_endian(head, 5..13) else { return false };
    let power = dictionary.is_power_of_two()
        || (dictionary / 3 * 3 == dictionary && (dictionary / 3).is_power_of_two());
    let sized = size == u64::MAX || size < 1 << 38;
    head.first() == Some(&0x5d) && dictionary >= 4096 && power && sized && head.get(13) == Some(&0)
}

/// A skippable frame, with which files of several frames start that can be searched.
fn is_skippable(head: &[u8]) -> bool {
    matches!(head, [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..])
}

/// Before POSIX a header had no magic; its check sum tells it.
fn is_old_tar(head: &[u8]) -> bool {
    let Some(header) = head.get(..512).filter(|header| header.first() != Some(&0)) else { return false };
    let recorded = header.get(148..156).and_then(|field| std::str::from_utf8(field).ok());
    let digits = recorded.map(|field| field.trim_matches(|c| c == ' ' || c == '\0')).unwrap_or_default();
    let Ok(recorded) = u32::from_str_radix(digits, 8) else { return false };
    let summed = header.iter().enumerate().map(|(at, byte)| match at {
        148..156 => u32::from(b' '),
        _ => u32::from(*byte),
    });
    summed.sum::<u32>() == recorded
}

/// The superblock's magic, with fields whose values are few
/// (<https://docs.kernel.org/filesystems/ext4/super.html>).
fn is_ext(head: &[u8]) -> bool {
    head.get(1080..1082) == Some(b"\x53\xef")
        && little_endian(head, 0x418..0x41c).is_some_and(|block| block <= 6)
        && little_endian(head, 0x44c..0x450).is_some_and(|revision| revision <= 1)
        && little_endian(head, 0x400..0x404).is_some_and(|inodes| inodes > 0)
}

/// Whether a disk image may start so, of which the rest tells more: its first sector is empty, or code that is started.
pub(super) fn may_be_disk(head: &[u8]) -> bool {
    let sector = head.get(..512).unwrap_or_default();
    !sector.is_empty() && (sector.iter().all(|byte| *byte == 0) || has_boot_sector(head))
}

fn has_boot_sector(head: &[u8]) -> bool {
    head.get(510..512) == Some(b"\x55\xaa")
}

/// The little-endian number in a range of bytes.
fn little_endian(head: &[u8], range: std::ops::Range<usize>) -> Option<u64> {
    let bytes = head.get(range)?;
    Some(bytes.iter().rev().fold(0u64, |value, byte| value << 8 | u64::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(offset: usize, bytes: &[u8]) -> Vec<u8> {
        [&vec![0; offset], bytes, &[0; 64]].concat()
    }

    #[test]
    fn forms_are_told_from_ordinary_files() {
        for (head, form) in [
            (b"BZh91AY&SY".to_vec(), Some(Form::Compressed(Codec::Bzip2))),
            (b"BZhello".to_vec(), None),
            (
                b"\x5d\0\0\x80\0\xff\xff\xff\xff\xff\xff\xff\xff\0".to_vec(),
                Some(Form::Compressed(Codec::Lzma)),
            ),
            (b"]\n[section]\n\n\n\n\n".to_vec(), None),
            (at(32_769, b"CD001"), Some(Form::Unread("ISO 9660 file systems"))),
            (at(65_600, b"_BHRfS_M"), Some(Form::Unread("Btrfs file systems"))),
            (at(1080, b"\x53\xef"), None),
            (b"\x7fELF\x02\x01\x01\0AI\x02\0".to_vec(), Some(Form::Unread("AppImages"))),
            (b"\x7fELF\x02\x01\x01\0\0\0\0\0".to_vec(), None),
            (b"\x89PNG\r\n\x1a\n".to_vec(), None),
            (b"%PDF-1.7".to_vec(), None),
            (b"plain text\n".to_vec(), None),
            (b"070701,1.5\n070702,1.6\n".to_vec(), None),
            (at(54, b"FAT16"), None),
            (Vec::new(), None),
        ] {
            assert_eq!(Form::detect(&head), form, "{:?}", head.get(..16));
        }
    }

    #[test]
    fn a_tar_archive_without_magic_is_one() {
        let mut archive = tar::Builder::new(Vec::new());
        let mut header = tar::Header::new_old();
        header.set_path("name").unwrap();
        header.set_size(0);
        header.set_cksum();
        archive.append(&header, &b""[..]).unwrap();
        let mut archive = archive.into_inner().unwrap();
        assert_eq!(Form::detect(&archive), Some(Form::Tar));
        archive[0] ^= 1;
        assert_eq!(Form::detect(&archive), None);
    }
}
