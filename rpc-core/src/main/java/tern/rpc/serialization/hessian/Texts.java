package tern.rpc.serialization.hessian;

import org.jspecify.annotations.Nullable;
import tern.rpc.PeerText;

/** What strangers sent, fit for a message or a log line. */
final class Texts {

    private Texts() {}

    static String shortened(@Nullable String text) {
        return PeerText.name(text);
    }
}
