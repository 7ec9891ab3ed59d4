package tern.rpc.transport;

import tern.rpc.Invocation;
import tern.rpc.Response;

/** A received answer that has not been decoded. Either {@link #decode} or {@link #discard} is called exactly once. */
public interface Answer {

    /** The answer to a one-way call. Such an answer has no value. */
    Answer NOTHING = new Answer() {
        @Override
        public Response decode(Invocation call) {
            return Response.of(null);
        }

        @Override
        public void discard() {
            // A one-way call has no answer to release.
        }
    };

    /**
     * Decodes the answer, on a thread that may block.
     *
     * @param call the answered call
     * @throws Throwable the exception in the answer, or an {@link tern.rpc.RpcException} if the answer is invalid
     */
    Response decode(Invocation call) throws Throwable;

    /** Releases an answer that is no longer needed. */
    void discard();
}
