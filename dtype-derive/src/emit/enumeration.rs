//! The type map of a fieldless enum.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

use super::Target;
use crate::model::{Item, Variant};
use crate::repr;

/// The expression for the map; `None` if no integer is named.
///
/// The bits of a variant are read from its value, not derived from `repr`, which a later macro may
/// remove. If such a macro adds a variant, the `match` does not compile; if it adds data to a variant,
/// neither the pattern nor the value compiles.
pub(super) fn map(
    item: &Item<'_>,
    variants: &[Variant<'_>],
    target: &Target,
) -> Option<TokenStream> {
    let Target { private, ty, constructor, is_remote, .. } = target;
    let basic = repr::basic(&item.source.attrs)?;
    let name = item.name();
    let names = variants.iter().map(Variant::name);
    let variants: Vec<_> = variants.iter().map(|variant| &variant.source.ident).collect();
    let value = Ident::new("__dtype_value", Span::mixed_site());
    // A local enum that describes a foreign one is never constructed. This use keeps the compiler from
    // reporting it as dead code.
    let used = is_remote.then(|| quote!(let _ = || [#(Self::#variants {}),*];));
    Some(quote!({
        let _: fn(&#ty) = |#value| match #value { #(#constructor::#variants {})|* => {} };
        #used
        &#private::TypeMap::enumeration::<#ty>(#name, #private::#basic, const {
            &[#(unsafe {
                #private::variant_bits::<#ty>(#constructor::#variants {}, #private::#basic)
            }),*]
        }, &[#(#names),*])
    }))
}
