//! The type map of a fieldless enum.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::Variant;

use super::Target;
use crate::model::Item;
use crate::repr::Integer;

/// The expression for the map; `None` where no integer is named.
///
/// Which bits a variant has is read from a value of it, and not concluded from `repr`: a macro that
/// runs later may take the `repr` away. A variant that it adds makes the `match` fail, and data that
/// it adds to a variant both the pattern and the value.
pub(super) fn map(item: &Item<'_>, variants: &[&Variant], target: &Target) -> Option<TokenStream> {
    let Target { private, ty, constructor, is_remote, .. } = target;
    let basic = Integer::of(&item.source.attrs)?.basic();
    let name = item.name();
    let variants: Vec<_> = variants.iter().map(|variant| &variant.ident).collect();
    let value = Ident::new("__dtype_value", Span::mixed_site());
    // The local enum that describes a foreign one is never made; the compiler is not to call it dead.
    let used = is_remote.then(|| quote!(let _ = || [#(Self::#variants {}),*];));
    Some(quote!({
        let _: fn(&#ty) = |#value| match #value { #(#constructor::#variants {})|* => {} };
        #used
        &#private::TypeMap::enumeration::<#ty>(#name, #private::#basic, const {
            &[#(unsafe {
                #private::variant_bits::<#ty>(#constructor::#variants {}, #private::#basic)
            }),*]
        })
    }))
}
