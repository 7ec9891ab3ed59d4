package tern.rpc.diagnosis.sample;

import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.account.Part.Kind;

/** Names the slow operations during which a thread holds a lock. */
public final class LockedWork {

    private LockedWork() {}

    /**
     * Returns the advice not to hold a lock during the given work; empty if the work is not an operation that waits.
     */
    public static String advice(@Nullable Kind work) {
        String name = work == null ? "" : name(work);
        return name.isEmpty() ? "" : "; do not hold it during " + name;
    }

    private static String name(Kind work) {
        return switch (work) {
            case HTTP -> "an HTTP exchange";
            case SQL -> "a statement of a database";
            case REDIS -> "a Redis command";
            case RPC -> "a remote call";
            case FILE -> "an access to a file";
            case SOCKET -> "an exchange over a socket";
            case SLEEP -> "a sleep";
            case RESOLVER -> "the lookup of a host name";
            case POOL -> "a wait for a connection";
            case LOG -> "the writing of log lines";
            default -> "";
        };
    }
}
