package tern.rpc.netty.triple;

import org.jspecify.annotations.Nullable;
import tern.rpc.RpcException;

/**
 * The mistake of a request that stays hidden until the authorizers have agreed, because it might reveal the exported
 * services. Thread-safe.
 */
final class HiddenMistake {

    private volatile @Nullable RpcException fault;
    private volatile @Nullable HttpForm teller; // the format for the mistake; null if the call reports it itself
    private volatile @Nullable HttpForm strangersForm; // the format of refusals before that; null for the call's own
    private volatile boolean admitted;

    /** Sets the mistake and its format. */
    void set(RpcException mistake, HttpForm form) {
        fault = mistake;
        teller = form;
    }

    /** Adds a mistake that the call reports itself, unless there already is one. */
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
     * The authorizers have agreed.
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

    /** The format of a failure; null for the call's own. */
    @Nullable
    HttpForm teller(RpcException failure) {
        return failure == fault ? teller : admitted ? null : strangersForm;
    }
}
