package tern.rpc.client;

import java.util.concurrent.atomic.LongAdder;
import tern.rpc.NanoClock;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.cluster.AttemptBudget;

/**
 * Decides whether a failed attempt of a call to one service is retried. A call is retried at most once, or twice if its
 * method is idempotent. If the method did not run in the failed attempt, the next attempt goes to another provider. If
 * the method may have run, only the first attempt is retried, and only if the method is idempotent. No call is retried
 * after its deadline or its cancellation, or if the server forbids it. One budget limits the service's retries, and
 * another budget limits the retries after failures of one provider. Therefore retries do not make an overload worse,
 * and one provider cannot use up the retries that other providers need. The budgets do not limit retries of calls that
 * reached a provider without the service; {@link FurtherAttempts} allows these retries. Thread-safe.
 */
final class RetryPolicy {

    private static final int ATTEMPTS_OF_IDEMPOTENT = 2;

    private final AttemptBudget budget;
    private final LongAdder retries = new LongAdder();

    RetryPolicy(NanoClock clock) {
        this.budget = AttemptBudget.forRetries(clock);
    }

    /** Returns the maximum number of attempts for a call whose method may already have run. */
    private static int attempts(boolean idempotent) {
        return idempotent ? ATTEMPTS_OF_IDEMPOTENT : 1;
    }

    /** Counts a new call, which increases the retry budget. */
    void called() {
        budget.called();
    }

    /** Returns the total number of retries since the client started. */
    long retries() {
        return retries.sum();
    }

    /** Returns whether more than half of the retry budget is spent. */
    boolean isShort() {
        return budget.isShort();
    }

    /**
     * @param attempt the number of the failed attempt, starting from 1
     * @param elsewhere whether another provider or connection can accept the call
     * @param ofProvider the retry budget of the provider that failed
     */
    boolean again(
            ClientMethod method,
            RpcException failure,
            int attempt,
            boolean elsewhere,
            long remainingNanos,
            AttemptBudget ofProvider) {
        boolean allowed = failure.wasExecuted() == Executed.NO
                ? elsewhere && attempt <= attempts(method.idempotent())
                : failure.wasExecuted() == Executed.MAYBE && attempt < attempts(method.idempotent());
        if (!allowed || failure.code() == StatusCode.CANCELLED || remainingNanos <= 0) {
            return false;
        }
        PushBack pushBack = PushBack.of(failure);
        if ((pushBack != null && pushBack.isStop()) || !spend(ofProvider)) {
            return false;
        }
        retried();
        return true;
    }

    void retried() {
        retries.increment();
    }

    /**
     * Takes one retry from the budgets.
     *
     * @return false if a budget is spent
     */
    boolean spend(AttemptBudget ofProvider) {
        if (!budget.spend()) {
            return false;
        }
        if (ofProvider.spend()) {
            return true;
        }
        budget.giveBack();
        return false;
    }

    /** Returns a retry to the budgets, because the retry was not made. */
    void giveBack(AttemptBudget ofProvider) {
        budget.giveBack();
        ofProvider.giveBack();
    }
}
