package tern.rpc.transport;

import tern.rpc.Invocation;
import tern.rpc.Response;

/** An answer that came but was not read yet. Exactly one of the two methods is called, once. */
public interface Answer {

    /** What a one-way call gets for an answer. */
    Answer NOTHING = new Answer() {
        @Override
        public Response decode(Invocation call) {
            return Response.of(null);
        }

        @Override
        public void discard() {
            // holds nothing
        }
    };

    /**
     * Reads it, on a thread that may spend the time.
     *
     * @param call that it answers
     * @throws Throwable the exception that the answer carries, or an {@link tern.rpc.RpcException} if it makes no sense
     */
    Response decode(Invocation call) throws Throwable;

    /** Nobody wants it any more. */
    void discard();
}
