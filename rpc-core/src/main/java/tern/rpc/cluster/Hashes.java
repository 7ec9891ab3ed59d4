package tern.rpc.cluster;

import tern.rpc.endpoint.Endpoint;

/** Hash functions that return the same values in all processes. */
public final class Hashes {

    private Hashes() {}

    /** Returns the hash of an address. */
    static long of(Endpoint endpoint) {
        return mix(endpoint.host().hashCode() * 31L + endpoint.port());
    }

    /** Returns the hash of a call's key. The hash is never 0, because 0 means that a call has no key. */
    public static long ofKey(Object key) {
        long hash = mix(key instanceof CharSequence text ? ofText(text) : key.hashCode());
        return hash == 0 ? 1 : hash;
    }

    private static long ofText(CharSequence text) {
        long hash = text.length();
        for (int i = 0; i < text.length(); i++) {
            hash = hash * 0x100000001B3L + text.charAt(i);
        }
        return hash;
    }

    /** Mixes all bits of the value (the finalizer of SplitMix64). */
    static long mix(long value) {
        long mixed = (value ^ (value >>> 30)) * 0xBF58476D1CE4E5B9L;
        mixed = (mixed ^ (mixed >>> 27)) * 0x94D049BB133111EBL;
        return mixed ^ (mixed >>> 31);
    }
}
