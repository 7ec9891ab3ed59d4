package tern.rpc.transport;

import tern.rpc.Metadata;
import tern.rpc.RpcException;
import tern.rpc.Status;
import tern.rpc.StatusCode;

/**
 * The failure of an attempt on a connection that accepts no more calls, for example because of its age. The server has
 * not received the request, or has not processed it. The call can be attempted again immediately on another connection,
 * even to the same server. The failed attempt counts neither as a server failure nor as a retry.
 */
public final class UnsentCallException extends RpcException {

    private static final long serialVersionUID = 1;

    public UnsentCallException(String description) {
        super(new Status(StatusCode.UNAVAILABLE, description), Executed.NO, new Metadata());
    }
}
