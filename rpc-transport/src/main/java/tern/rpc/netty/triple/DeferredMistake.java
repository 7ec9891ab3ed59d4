package tern.rpc.netty.triple;

import org.jspecify.annotations.Nullable;
import tern.rpc.RpcException;

/**
 * A request error that is reported only after all authorizers have allowed the call, because the error might reveal
 * which services are exported. Thread-safe.
 */
final class DeferredMistake {

    private volatile @Nullable RpcException fault;
    // the format in which the error is reported; null for the format of the call
    private volatile @Nullable HttpForm reporter;
    // the format in which a refusal by an authorizer is reported; null for the format of the call
    private volatile @Nullable HttpForm strangersForm;
    private volatile boolean admitted;

    /** Sets the error and the format in which it is reported. */
    void set(RpcException mistake, HttpForm form) {
        fault = mistake;
        reporter = form;
    }

    /** Adds an error that is reported in the call's own format, unless an error is already set. */
    void add(RpcException mistake) {
        if (fault == null) {
            fault = mistake;
        }
    }

    boolean isPresent() {
        return fault != null;
    }

    /** Sets the format in which an authorizer's refusal is reported. */
    void refusesStrangersLike(HttpForm form) {
        strangersForm = form;
    }

    /**
     * Called when all authorizers have allowed the call.
     *
     * @throws RpcException the error, if one is set
     */
    void reveal() {
        admitted = true;
        RpcException mistake = fault;
        if (mistake != null) {
            throw mistake;
        }
    }

    /** Returns the format in which a failure is reported to the caller; null for the format of the call. */
    @Nullable
    HttpForm reporter(RpcException failure) {
        return failure == fault ? reporter : admitted ? null : strangersForm;
    }
}
