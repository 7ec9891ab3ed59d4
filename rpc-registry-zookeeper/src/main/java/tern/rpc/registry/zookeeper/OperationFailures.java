package tern.rpc.registry.zookeeper;

import java.util.concurrent.CompletionException;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import tern.rpc.registry.dubbo.Limits;

/** Classifies the failures of operations on nodes, and describes them for log lines. */
final class OperationFailures {

    private OperationFailures() {}

    static boolean isCode(Throwable failure, Code code) {
        return cause(failure) instanceof KeeperException keeper && keeper.code() == code;
    }

    private static Throwable cause(Throwable failure) {
        return failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
    }

    /**
     * Returns whether an operation failed because the connection was lost, or because ZooKeeper has rejected the user
     * and ended the connection. After the reconnection, the session calls {@link Session.Listener#connected}.
     */
    static boolean isConnectionLost(Throwable failure) {
        return isCode(failure, Code.CONNECTIONLOSS)
                || isCode(failure, Code.AUTHFAILED)
                || isCode(failure, Code.SESSIONEXPIRED)
                || isCode(failure, Code.SESSIONMOVED);
    }

    /**
     * Returns true if a node could not be read because this client lacks permission or because the node is too large.
     */
    static boolean isRefusal(Throwable failure) {
        return isCode(failure, Code.NOAUTH) || cause(failure) instanceof IllegalArgumentException;
    }

    /**
     * Returns the reason why an operation failed. If a permission is missing, the text names the part of the registry
     * address to check.
     */
    static String reason(Throwable failure, ZooKeeperSettings settings) {
        Throwable cause = cause(failure);
        return isCode(failure, Code.NOAUTH) || isCode(failure, Code.AUTHFAILED)
                ? whyDenied(settings) + " (" + cause.getMessage() + "). " + whatToCheck()
                : String.valueOf(cause.getMessage());
    }

    private static String whyDenied(ZooKeeperSettings settings) {
        return settings.url().hasCredentials()
                ? "the user or the password is wrong, or the user has no permission"
                : "the registry requires a user and a password";
    }

    /** Returns why ZooKeeper has rejected the user, and what to check. */
    static String denied(ZooKeeperSettings settings) {
        return whyDenied(settings) + ". " + whatToCheck();
    }

    private static String whatToCheck() {
        return "Check the user and the password in rpc.server.registry or rpc.client.registry, such as"
                + " zookeeper://user:password@host";
    }

    /** Returns the reason why a node created by another client could not be read. The text has no line breaks. */
    static String whyUnreadable(Throwable failure, ZooKeeperSettings settings) {
        return isCode(failure, Code.NOAUTH)
                ? "its access control list (ACL) does not allow this client to read it: " + whyDenied(settings) + ". "
                        + whatToCheck()
                : Limits.shown(String.valueOf(cause(failure).getMessage()));
    }
}
