"""
MPI-style datatypes for Julia, by `ccall`s of libdtype.

    struct Particle
        place::NTuple{3, Float64}
        charge::Int8
    end
    bytes = Dtype.pack(particles)                    # 25 bytes each, without the padding
    back = Dtype.unpack(Particle, bytes)

The type of an `isbits` struct is built from `fieldoffset` and `fieldtype`, once for each type.
"""
module Dtype

const lib = get(ENV, "DTYPE_LIBRARY", "libdtype")

struct DtypeError <: Exception
    code::Int32
    message::String
end

Base.showerror(io::IO, error::DtypeError) = print(io, "DtypeError ", error.code, ": ", error.message)

function check(code::Int32)
    code == 0 && return
    throw(DtypeError(code, unsafe_string(ccall((:dtype_last_message, lib), Cstring, ()))))
end

"A datatype: a counted handle."
mutable struct Type_
    handle::Ptr{Cvoid}
    function Type_(handle)
        made = new(handle)
        finalizer(it -> ccall((:dtype_type_release, lib), Cvoid, (Ptr{Cvoid},), it.handle), made)
    end
end

"A datatype that was compiled for packing."
mutable struct Committed
    handle::Ptr{Cvoid}
    function Committed(handle)
        made = new(handle)
        finalizer(it -> ccall((:dtype_committed_release, lib), Cvoid, (Ptr{Cvoid},), it.handle), made)
    end
end

const basics = Dict{DataType, Int32}(
    Int8 => 1, Int16 => 2, Int32 => 3, Int64 => 4, Int128 => 5, UInt8 => 6, UInt16 => 7, UInt32 => 8, UInt64 => 9,
    UInt128 => 10, Float16 => 11, Float32 => 13, Float64 => 14, Complex{Float32} => 15, Complex{Float64} => 16, Bool => 17,
    Char => 8,
)

function basic(code::Integer)
    out = Ref{Ptr{Cvoid}}(C_NULL)
    check(ccall((:dtype_type_basic, lib), Int32, (Int32, Ptr{Ptr{Cvoid}}), code, out))
    Type_(out[])
end

"The datatype of an `isbits` type."
function type(::Type{T}) where {T}
    haskey(basics, T) && return basic(basics[T])
    isbitstype(T) && !isprimitivetype(T) || throw(ArgumentError("$T is neither a number nor an isbits struct"))
    fields = [i for i in 1:fieldcount(T) if sizeof(fieldtype(T, i)) > 0]
    members = [type(fieldtype(T, i)) for i in fields]
    lengths, places = ones(Int64, length(fields)), Int64[fieldoffset(T, i) for i in fields]
    all, whole = Ref{Ptr{Cvoid}}(C_NULL), Ref{Ptr{Cvoid}}(C_NULL)
    GC.@preserve members begin
        handles = Ptr{Cvoid}[member.handle for member in members]
        check(ccall((:dtype_type_struct, lib), Int32,
            (Csize_t, Ptr{Int64}, Ptr{Int64}, Ptr{Ptr{Cvoid}}, Ptr{Ptr{Cvoid}}),
            length(fields), lengths, places, handles, all))
    end
    fields_alone = Type_(all[])
    GC.@preserve fields_alone check(ccall((:dtype_type_resized, lib), Int32,
        (Ptr{Cvoid}, Int64, Int64, Ptr{Ptr{Cvoid}}), fields_alone.handle, 0, sizeof(T), whole))
    Type_(whole[])
end

const known = IdDict{Any, Committed}()
const lock_of_known = ReentrantLock()

"The committed datatype of an `isbits` type, made once. Truth values are checked when they are unpacked."
function committed(::Type{T}) where {T}
    lock(lock_of_known) do
        get!(known, T) do
            made, out, checked = type(T), Ref{Ptr{Cvoid}}(C_NULL), Ref{Ptr{Cvoid}}(C_NULL)
            GC.@preserve made check(ccall((:dtype_commit, lib), Int32, (Ptr{Cvoid}, Ptr{Ptr{Cvoid}}), made.handle, out))
            plain = Committed(out[])
            GC.@preserve plain check(ccall((:dtype_checked, lib), Int32,
                (Ptr{Cvoid}, Ptr{Cvoid}, Csize_t, Ptr{Ptr{Cvoid}}), plain.handle, C_NULL, 0, checked))
            Committed(checked[])
        end
    end
end

"Packed bytes of `count` values."
function packed_size(::Type{T}, count::Integer) where {T}
    one, out = committed(T), Ref{Csize_t}(0)
    GC.@preserve one check(ccall((:dtype_packed_size, lib), Int32, (Ptr{Cvoid}, Csize_t, Ptr{Csize_t}), one.handle, count, out))
    Int(out[])
end

"The values of an array, packed."
function pack(values::Array{T}) where {T}
    bytes, one = Vector{UInt8}(undef, packed_size(T, length(values))), committed(T)
    GC.@preserve values one check(ccall((:dtype_pack, lib), Int32,
        (Ptr{Cvoid}, Ptr{Cvoid}, Csize_t, Csize_t, Ptr{UInt8}, Csize_t, Ptr{Csize_t}),
        one.handle, pointer(values), sizeof(values), length(values), bytes, length(bytes), C_NULL))
    bytes
end

"Unpacks exactly as many values as the array has."
function unpack!(values::Array{T}, bytes::Vector{UInt8}) where {T}
    one = committed(T)
    GC.@preserve values one check(ccall((:dtype_unpack, lib), Int32,
        (Ptr{Cvoid}, Ptr{UInt8}, Csize_t, Ptr{Cvoid}, Csize_t, Csize_t),
        one.handle, bytes, length(bytes), pointer(values), sizeof(values), length(values)))
    values
end

"As many values as the bytes hold."
function unpack(::Type{T}, bytes::Vector{UInt8}) where {T}
    size = packed_size(T, 1)
    unpack!(Vector{T}(undef, size == 0 ? 0 : length(bytes) ÷ size), bytes)
end

end
