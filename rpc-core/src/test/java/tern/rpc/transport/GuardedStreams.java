package tern.rpc.transport;

import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import tern.rpc.transport.GuardedService.Counted;

/** Streaming methods whose argument types count their instances. */
public interface GuardedStreams {

    Flow.Publisher<Integer> watch(Counted one);

    CompletionStage<Integer> collect(Flow.Publisher<Counted> values);

    Flow.Publisher<Integer> exchange(Flow.Publisher<Counted> values);
}
