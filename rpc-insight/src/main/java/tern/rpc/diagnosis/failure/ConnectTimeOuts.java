package tern.rpc.diagnosis.failure;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tern.rpc.NamedTimes;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.Account;
import tern.rpc.diagnosis.account.EndedCall;
import tern.rpc.diagnosis.account.OperationNames;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;

/**
 * Recognizes HTTP exchanges that reach their time limit while the client is still connecting. The JDK's client then
 * reports a connect timeout, although the limit of the whole exchange has expired. If other exchanges with this peer
 * reach the same limit after the client has connected, the peer does accept connections.
 */
public final class ConnectTimeOuts {

    /**
     * Exchanges are assumed to end at a common limit only if at least {@value} of them ended after the client had
     * connected.
     */
    private static final int MIN_CONNECTED = 3;

    /**
     * A time limit of whole exchanges is assumed only if, for each exchange that ended while the client was connecting,
     * at least {@value} exchanges ended after the client had connected.
     */
    private static final double SHARE = 0.25;

    /**
     * A time limit of whole exchanges is assumed only if the mean times of exchanges that ended before and after the
     * client had connected differ by a factor of less than {@value}.
     */
    private static final double SAME = 2;

    private ConnectTimeOuts() {}

    /**
     * The exchanges with one name that a time limit ended, divided into two groups: the limit expired while the client
     * was connecting, or afterwards.
     */
    private static final class Ended {
        final List<EndedCall> connecting = new ArrayList<>();
        double connectingNanos;
        int connected;
        double connectedNanos;

        boolean areOfOneLimit() {
            double before = connectingNanos / Math.max(1, connecting.size());
            double after = connectedNanos / Math.max(1, connected);
            return connected >= MIN_CONNECTED
                    && connected >= SHARE * connecting.size()
                    && before < SAME * after
                    && after < SAME * before;
        }
    }

    /**
     * Finds the calls in which the client's own time limit ended an exchange while the client was connecting. Returns
     * this exchange for each of these calls.
     *
     * @param bad late or failed calls
     */
    static Map<EndedCall, Part> find(List<EndedCall> bad) {
        Map<String, Ended> byExchange = new HashMap<>();
        for (EndedCall call : bad) {
            boolean isConnecting = call.failure() != null && isOfConnecting(FailurePart.of(call));
            NamedTimes.Entry exchange = call.failure() == null ? null : longest(call);
            if (exchange == null || (!isConnecting && !isTimedOut(call, exchange))) {
                continue;
            }
            Ended ended =
                    byExchange.computeIfAbsent(OperationNames.withoutStatus(exchange.name()), name -> new Ended());
            double each = (double) exchange.nanos() / exchange.count();
            if (isConnecting) {
                ended.connecting.add(call);
                ended.connectingNanos += each;
            } else {
                ended.connected++;
                ended.connectedNanos += each;
            }
        }
        Map<EndedCall, Part> found = new IdentityHashMap<>();
        byExchange.forEach((name, ended) -> {
            if (ended.areOfOneLimit()) {
                ended.connecting.forEach(call -> found.put(call, Account.part(Phase.HTTP, name)));
            }
        });
        return found;
    }

    /**
     * Returns whether a call's exchange was ended by the client's own time limit while the client was connecting.
     *
     * @param failure the failure that the call's exceptions show
     * @param timedOut the operation of the call that a hidden timeout ended; null if there is none
     */
    public static boolean isOne(Part failure, @Nullable Part timedOut) {
        return timedOut != null && isOfConnecting(failure);
    }

    private static boolean isOfConnecting(@Nullable Part failure) {
        return failure != null
                && failure.kind() == Kind.PEER_FAILS
                && failure.name().endsWith(": " + Part.NOT_ACCEPTED);
    }

    private static boolean isTimedOut(EndedCall call, NamedTimes.Entry exchange) {
        Part part = FailurePart.timedOut(call);
        return part != null
                && part.kind() == Kind.HTTP
                && part.name().equals(OperationNames.withoutStatus(exchange.name()));
    }

    private static NamedTimes.@Nullable Entry longest(EndedCall call) {
        NamedTimes.Entry longest = null;
        for (NamedTimes.Entry entry : call.ledger().named()) {
            boolean isLonger = longest == null || entry.nanos() > longest.nanos();
            if (entry.kind() == Phase.HTTP && entry.count() > 0 && isLonger) {
                longest = entry;
            }
        }
        return longest;
    }
}
