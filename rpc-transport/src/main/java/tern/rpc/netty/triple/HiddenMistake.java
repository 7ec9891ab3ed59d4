package tern.rpc.netty.triple;

import org.jspecify.annotations.Nullable;
import tern.rpc.RpcException;

/**
 * A mistake in a request that stays hidden until the authorizers have agreed, because it might reveal which services
 * are exported. Thread-safe.
 */
final class HiddenMistake {

    private volatile @Nullable RpcException fault;
    // the format in which the mistake is reported; null if the call itself reports it
    private volatile @Nullable HttpForm teller;
    // the format of refusals before the mistake is revealed; null for the call's own format
    private volatile @Nullable HttpForm strangersForm;
    private volatile boolean admitted;

    /** Sets the mistake and its format. */
    void set(RpcException mistake, HttpForm form) {
        fault = mistake;
        teller = form;
    }

    /** Adds a mistake that the call itself reports, unless there already is one. */
    void add(RpcException mistake) {
        if (fault == null) {
            fault = mistake;
        }
    }

    boolean isPresent() {
        return fault != null;
    }

    /** Sets another format for refusals by authorizers. */
    void refusesStrangersLike(HttpForm form) {
        strangersForm = form;
    }

    /**
     * Called when the authorizers have agreed.
     *
     * @throws RpcException the mistake, if there is one
     */
    void reveal() {
        admitted = true;
        RpcException mistake = fault;
        if (mistake != null) {
            throw mistake;
        }
    }

    /** The format in which a failure is reported; null for the call's own format. */
    @Nullable
    HttpForm teller(RpcException failure) {
        return failure == fault ? teller : admitted ? null : strangersForm;
    }
}
