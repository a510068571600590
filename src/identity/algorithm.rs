//! The algorithms by which tokens may be signed: a public key verifies each. Nothing symmetric, and never `none`.

use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256,
    RSA_PKCS1_2048_8192_SHA384, RSA_PKCS1_2048_8192_SHA512, RSA_PSS_2048_8192_SHA256,
    RSA_PSS_2048_8192_SHA384, RSA_PSS_2048_8192_SHA512, RsaParameters, VerificationAlgorithm,
};

/// An algorithm of RFC 7518, RFC 8037 or RFC 9864.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, strum::Display, strum::EnumString, strum::VariantNames)]
pub enum Algorithm {
    RS256,
    RS384,
    RS512,
    PS256,
    PS384,
    PS512,
    ES256,
    ES384,
    #[strum(to_string = "EdDSA", serialize = "Ed25519")]
    EdDsa,
}

/// How ring verifies an algorithm.
pub(crate) enum Verification {
    Rsa(&'static RsaParameters),
    /// By a point of a curve.
    Curve(&'static dyn VerificationAlgorithm),
}

impl Algorithm {
    /// The algorithms of an issuer that names none.
    pub const USUAL: [Self; 3] = [Self::RS256, Self::ES256, Self::EdDsa];

    /// The algorithms of a trust domain that names none: those of SPIRE's keys.
    pub const OF_SVIDS: [Self; 3] = [Self::RS256, Self::ES256, Self::ES384];

    /// Whether the JWT-SVID standard allows it.
    pub fn is_of_svids(self) -> bool {
        self != Self::EdDsa
    }

    pub(crate) fn verification(self) -> Verification {
        match self {
            Self::RS256 => Verification::Rsa(&RSA_PKCS1_2048_8192_SHA256),
            Self::RS384 => Verification::Rsa(&RSA_PKCS1_2048_8192_SHA384),
            Self::RS512 => Verification::Rsa(&RSA_PKCS1_2048_8192_SHA512),
            Self::PS256 => Verification::Rsa(&RSA_PSS_2048_8192_SHA256),
            Self::PS384 => Verification::Rsa(&RSA_PSS_2048_8192_SHA384),
            Self::PS512 => Verification::Rsa(&RSA_PSS_2048_8192_SHA512),
            Self::ES256 => Verification::Curve(&ECDSA_P256_SHA256_FIXED),
            Self::ES384 => Verification::Curve(&ECDSA_P384_SHA384_FIXED),
            Self::EdDsa => Verification::Curve(&ED25519),
        }
    }

    pub(crate) fn is_rsa(self) -> bool {
        matches!(self.verification(), Verification::Rsa(_))
    }
}
