package tern.rpc.serialization.hessian;

import org.jspecify.annotations.Nullable;
import tern.rpc.PeerText;

/** Formats strings received from peers for use in error messages and log lines. */
final class Texts {

    private Texts() {}

    static String shortened(@Nullable String text) {
        return PeerText.name(text);
    }
}
