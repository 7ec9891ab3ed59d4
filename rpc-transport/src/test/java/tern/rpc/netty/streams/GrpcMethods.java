package tern.rpc.netty.streams;

import com.example.ledger.Entry;
import com.example.ledger.LedgerGrpc;
import com.example.ledger.Period;
import com.example.ledger.Receipt;
import com.google.protobuf.Message;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.protobuf.ProtoUtils;
import java.util.List;

/**
 * The gRPC methods that a client calls.
 *
 * @param both the bidirectional method, whose answers are entries or receipts
 */
record GrpcMethods(
        String name,
        List<MethodDescriptor<Period, Entry>> down,
        List<MethodDescriptor<Entry, Receipt>> up,
        List<MethodDescriptor<Entry, ? extends Message>> both) {

    static final List<String> DOWN = List.of("publish", "flux", "observe", "observeReady");
    static final List<String> UP = List.of("collect", "collectFlux");
    static final List<String> BOTH = List.of("exchange", "exchangeFlux", "exchangeObserved");

    /** The methods of {@link Feeds}. The id of a stream selects the method. */
    static final GrpcMethods FEEDS = new GrpcMethods(
            "methods of every Java shape",
            DOWN.stream().map(GrpcMethods::down).toList(),
            UP.stream().map(GrpcMethods::up).toList(),
            BOTH.stream()
                    .<MethodDescriptor<Entry, ? extends Message>>map(GrpcMethods::both)
                    .toList());

    /** The methods of the generated gRPC service. */
    static final GrpcMethods LEDGER = new GrpcMethods(
            "a generated service",
            List.of(LedgerGrpc.getStatementMethod()),
            List.of(LedgerGrpc.getImportMethod()),
            List.of(LedgerGrpc.getReconcileMethod()));

    static final GrpcMethods MISFITS = new GrpcMethods(
            "methods that break the rules",
            List.of(down(Misfits.class, "publish"), down(Misfits.class, "observe")),
            List.of(up(Misfits.class, "collect")),
            List.of(both(Misfits.class, "exchange"), both(Misfits.class, "exchangeObserved")));

    static MethodDescriptor<Period, Entry> down(String name) {
        return down(Feeds.class, name);
    }

    private static MethodDescriptor<Period, Entry> down(Class<?> service, String name) {
        return method(
                service, MethodType.SERVER_STREAMING, name, Period.getDefaultInstance(), Entry.getDefaultInstance());
    }

    static MethodDescriptor<Entry, Receipt> up(String name) {
        return up(Feeds.class, name);
    }

    private static MethodDescriptor<Entry, Receipt> up(Class<?> service, String name) {
        return method(
                service, MethodType.CLIENT_STREAMING, name, Entry.getDefaultInstance(), Receipt.getDefaultInstance());
    }

    static MethodDescriptor<Entry, Entry> both(String name) {
        return both(Feeds.class, name);
    }

    private static MethodDescriptor<Entry, Entry> both(Class<?> service, String name) {
        return method(service, MethodType.BIDI_STREAMING, name, Entry.getDefaultInstance(), Entry.getDefaultInstance());
    }

    private static <Q extends Message, A extends Message> MethodDescriptor<Q, A> method(
            Class<?> service, MethodType type, String name, Q request, A answer) {
        return MethodDescriptor.<Q, A>newBuilder()
                .setType(type)
                .setFullMethodName(service.getName() + "/" + name)
                .setRequestMarshaller(ProtoUtils.marshaller(request))
                .setResponseMarshaller(ProtoUtils.marshaller(answer))
                .build();
    }

    @Override
    public String toString() {
        return name;
    }
}
