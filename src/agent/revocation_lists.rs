//! The certificate revocation lists (CRLs) of the CA, one list per CA certificate.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, CertificateRevocationListDer};
use x509_parser::prelude::{CertificateRevocationList, FromDer as _, X509Certificate};

/// Puppet accepts a list that is valid within five minutes: the clocks of two machines differ.
const CLOCK_DIFFERENCE: SignedDuration = SignedDuration::from_mins(5);

/// The revocation lists of a CA bundle. There is at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RevocationLists {
    pem: String,
    lists: Vec<CertificateRevocationListDer<'static>>,
    periods: BTreeMap<String, ValidityPeriod>,
}

/// The validity of the newest list of an issuer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ValidityPeriod {
    begin: Timestamp,
    /// `None`: the list does not expire.
    end: Option<Timestamp>,
}

/// A text without usable revocation lists.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RevocationListError {
    /// The text has no CRL in PEM format.
    #[error("Failed to parse CRLs as PEM: the text contains none")]
    Missing,
    /// The PEM text or the list in it is damaged.
    #[error("Failed to parse CRLs: {0}")]
    Damaged(String),
    /// No CA of the bundle issued any of the lists.
    #[error("no CA of the bundle issued these CRLs (issuer: {0})")]
    UnknownIssuer(String),
    /// The signature of a list is not from its CA.
    #[error("the CRL issued by '{0}' has an invalid signature")]
    Signature(String),
    /// The validity of a list begins in the future.
    #[error("The CRL issued by '{issuer}' is not yet valid, verify time is synchronized")]
    NotYetValid {
        /// Name of the CA.
        issuer: String,
    },
    /// The lists have no list of a CA that the present lists have.
    #[error("the CRL issued by '{0}' is missing")]
    MissingIssuer(String),
    /// A list is older than the present list of the same CA.
    #[error("the CRL issued by '{0}' is older than the present one")]
    Older(String),
}

impl RevocationLists {
    /// Parses lists in PEM format and verifies their signatures with the CA bundle `ca`. Lists of
    /// other CAs are ignored, as in Puppet.
    ///
    /// # Errors
    /// A list is damaged, forged or not valid yet, or the bundle has no CA for any of them.
    pub fn parse(pem: &str, ca: &str, now: Timestamp) -> Result<Self, RevocationListError> {
        let damaged =
            |error: &dyn std::fmt::Display| RevocationListError::Damaged(error.to_string());
        let authorities: Vec<CertificateDer<'_>> = CertificateDer::pem_slice_iter(ca.as_bytes())
            .collect::<Result<_, _>>()
            .map_err(|error| damaged(&error))?;
        let mut found = Self {
            pem: pem.to_owned(),
            lists: Vec::new(),
            periods: BTreeMap::new(),
        };
        let mut unknown = None;
        for list in CertificateRevocationListDer::pem_slice_iter(pem.as_bytes()) {
            let list = list.map_err(|error| damaged(&error))?;
            let (_, read) =
                CertificateRevocationList::from_der(&list).map_err(|error| damaged(&error))?;
            let issuer = read.issuer().to_string();
            let mut keys = authorities
                .iter()
                .filter_map(|der| X509Certificate::from_der(der).ok())
                .map(|(_, authority)| authority)
                .filter(|authority| authority.subject().as_raw() == read.issuer().as_raw())
                .peekable();
            if keys.peek().is_none() {
                unknown = Some(issuer);
                continue;
            }
            if !keys.any(|authority| read.verify_signature(authority.public_key()).is_ok()) {
                return Err(RevocationListError::Signature(issuer));
            }
            let time = |time: x509_parser::time::ASN1Time| {
                Timestamp::from_second(time.timestamp()).map_err(|error| damaged(&error))
            };
            let period = ValidityPeriod {
                begin: time(read.last_update())?,
                end: read.next_update().map(time).transpose()?,
            };
            if period.begin
                > now
                    .saturating_add(CLOCK_DIFFERENCE)
                    .unwrap_or(Timestamp::MAX)
            {
                return Err(RevocationListError::NotYetValid { issuer });
            }
            let newest = found.periods.entry(issuer).or_insert(period);
            if newest.begin < period.begin {
                *newest = period;
            }
            found.lists.push(list);
        }
        match (found.lists.is_empty(), unknown) {
            (false, _) => Ok(found),
            (true, Some(issuer)) => Err(RevocationListError::UnknownIssuer(issuer)),
            (true, None) => Err(RevocationListError::Missing),
        }
    }

    /// Whether these lists can replace `present`: each CA of `present` has a list that is not older.
    ///
    /// # Errors
    /// A list is missing or older.
    pub(crate) fn check_replaces(&self, present: &Self) -> Result<(), RevocationListError> {
        for (issuer, old) in &present.periods {
            match self.periods.get(issuer) {
                None => return Err(RevocationListError::MissingIssuer(issuer.clone())),
                Some(new) if new.begin < old.begin => {
                    return Err(RevocationListError::Older(issuer.clone()));
                }
                Some(_) => {}
            }
        }
        Ok(())
    }

    /// The first CA whose list has expired, with the end of its validity.
    pub(crate) fn expired(&self, now: Timestamp) -> Option<(&str, Timestamp)> {
        self.periods.iter().find_map(|(issuer, period)| {
            let end = period.end.filter(|end| *end < now)?;
            Some((issuer.as_str(), end))
        })
    }

    /// The text in PEM format.
    pub fn pem(&self) -> &str {
        &self.pem
    }

    pub(crate) fn lists(&self) -> &[CertificateRevocationListDer<'static>] {
        &self.lists
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CA: &str = include_str!("../../tests/fixtures/puppetserver/ssl/ca_bundle_chain.pem");
    const CRLS: &str = include_str!("../../tests/fixtures/puppetserver/ssl/crl_bundle_chain.pem");

    fn parse(pem: &str) -> Result<RevocationLists, RevocationListError> {
        RevocationLists::parse(pem, CA, "2026-12-01T00:00:00Z".parse().unwrap())
    }

    #[test]
    fn parse_reads_recorded_lists_and_rejects_other_texts() {
        let lists = parse(CRLS).unwrap();
        assert_eq!(lists.lists().len(), 2);
        assert_eq!(lists.periods.len(), 2);
        for text in ["", "[]", "<html>maintenance</html>", CA] {
            assert_eq!(parse(text), Err(RevocationListError::Missing), "{text}");
        }
        let damaged = "-----BEGIN X509 CRL-----\nAAAA\n-----END X509 CRL-----\n";
        assert!(matches!(
            parse(&format!("{CRLS}{damaged}")),
            Err(RevocationListError::Damaged(_))
        ));
        let other = include_str!("../../tests/fixtures/puppetserver/ssl/ca_single.pem");
        let now = "2026-12-01T00:00:00Z".parse().unwrap();
        assert!(RevocationLists::parse(CRLS, other, now).is_err());
    }

    #[test]
    fn parse_tolerates_a_clock_difference_of_five_minutes() {
        let begin = parse(CRLS)
            .unwrap()
            .periods
            .into_values()
            .map(|period| period.begin)
            .max();
        let begin = begin.unwrap();
        let at = |seconds| {
            let now = begin - SignedDuration::from_secs(seconds);
            RevocationLists::parse(CRLS, CA, now).map(|_| ())
        };
        assert_eq!(at(299), Ok(()));
        assert!(matches!(
            at(301),
            Err(RevocationListError::NotYetValid { .. })
        ));
    }

    #[test]
    fn check_replaces_requires_each_issuer() {
        let both = parse(CRLS).unwrap();
        let end = "-----END X509 CRL-----\n";
        let one = parse(CRLS.split_inclusive(end).next().unwrap()).unwrap();
        assert_eq!(both.check_replaces(&one), Ok(()));
        assert!(matches!(
            one.check_replaces(&both),
            Err(RevocationListError::MissingIssuer(_))
        ));
    }
}
