package tern.rpc.load.peer;

import io.netty.handler.ssl.OpenSsl;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The TLS engine that a compared framework uses, or {@code NONE} for a framework that does not use TLS. The suffix of
 * the framework's name selects the engine.
 */
enum Encryption {
    NONE("", null),

    /** The TLS engine of the JDK. */
    JDK("-tls", true),

    /** The native TLS engine of netty-tcnative. */
    BORING_SSL("-boringssl", false);

    private final String suffix;
    private final @Nullable Boolean withoutNative;

    Encryption(String suffix, @Nullable Boolean withoutNative) {
        this.suffix = suffix;
        this.withoutNative = withoutNative;
    }

    static Encryption of(String peer) {
        for (Encryption encryption : values()) {
            if (encryption != NONE && peer.endsWith(encryption.suffix)) {
                return encryption;
            }
        }
        return NONE;
    }

    /** Returns the name of a compared framework without the suffix for this engine. */
    String clearText(String peer) {
        return peer.substring(0, peer.length() - suffix.length());
    }

    String added(String peer) {
        return peer + suffix;
    }

    /**
     * Returns the JVM flags that select this engine in the processes of a framework. Without these flags, Netty uses
     * its native engine wherever possible.
     */
    List<String> flags() {
        List<String> flags = new ArrayList<>();
        if (withoutNative != null) {
            flags.add(RunCertificate.flag());
            flags.add("-Dio.netty.handler.ssl.noOpenSsl=" + withoutNative);
        }
        return flags;
    }

    /**
     * Checks that Netty uses this engine.
     *
     * @throws IllegalStateException if Netty uses another engine in this process
     */
    void check() {
        if (withoutNative != null && withoutNative == OpenSsl.isAvailable()) {
            throw new IllegalStateException(
                    withoutNative ? "netty-tcnative is used" : "netty-tcnative is not used",
                    OpenSsl.unavailabilityCause());
        }
    }
}
