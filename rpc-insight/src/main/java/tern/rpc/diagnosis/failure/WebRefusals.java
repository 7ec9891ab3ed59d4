package tern.rpc.diagnosis.failure;

import org.jspecify.annotations.Nullable;
import tern.rpc.CallLedger;
import tern.rpc.NamedTimes;
import tern.rpc.diagnosis.account.EndedCall;
import tern.rpc.diagnosis.account.OperationNames;

/** Distinguishes web requests that an application refuses on purpose from requests that fail for other reasons. */
public final class WebRefusals {

    private WebRefusals() {}

    /**
     * Returns whether a request failed although its answer has the status of a refusal, such as 503. Applications often
     * answer with this status if a peer, a database or an executor failed. The ledger then contains the failed
     * operation, or an exception names what failed. If a rate limiter of the application refused the request itself,
     * the exception is not a failure.
     *
     * @param handled the exception that the application handled; null if none is known
     */
    public static boolean isFailure(CallLedger ledger, @Nullable Throwable handled) {
        for (NamedTimes.Entry entry : ledger.named()) {
            if (OperationNames.isFailing(entry.name())) {
                return true;
            }
        }
        return handled != null
                && LocalRefusals.of(handled) != LocalRefusals.Limiter.RATE
                && !FailurePart.isOfOwnCode(new EndedCall("", ledger, 0, 0, handled));
    }
}
