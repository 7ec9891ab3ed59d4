package tern.rpc.load.peer;

import java.util.concurrent.Executor;

/**
 * A server that uses the floor protocol, a minimal protocol that shows the lowest possible cost of a call. The server
 * passes each request to a worker, which answers with the requested number of bytes.
 */
final class FloorServer extends FloorConnection {

    private final Executor workers;
    private final WorkService work;

    FloorServer(Executor workers, WorkService work) {
        this.workers = workers;
        this.work = work;
    }

    @Override
    void received(long id, byte[] payload) {
        workers.execute(() -> answer(id, FloorRequest.read(payload)));
    }

    private void answer(long id, FloorRequest request) {
        if (request.builds() > 0) {
            work.build(request.builds());
        }
        send(id, new byte[request.answerBytes()]);
    }
}
