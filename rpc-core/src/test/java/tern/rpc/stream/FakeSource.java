package tern.rpc.stream;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** A source that records the publisher's requests. */
final class FakeSource implements InboundPublisher.Source {
    final List<Integer> requests = new ArrayList<>();
    final AtomicInteger cancels = new AtomicInteger();
    final List<Throwable> failures = new ArrayList<>();

    @Override
    public synchronized void request(int messages) {
        requests.add(messages);
    }

    @Override
    public void cancel() {
        cancels.incrementAndGet();
    }

    @Override
    public synchronized void failed(Throwable cause) {
        failures.add(cause);
    }
}
