package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.example.ledger.LedgerGrpc;
import com.example.ledger.LedgerGrpc.LedgerBlockingStub;
import com.example.ledger.LedgerGrpc.LedgerStub;
import io.grpc.BindableService;
import io.grpc.Status;
import io.grpc.Status.Code;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.StreamObserver;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import tern.rpc.grpc.GrpcServices;
import tern.rpc.netty.peer.Await;
import tern.rpc.server.ServiceExport;

/** Calls grpc-java services that Tern exports, with grpc-java's client. */
abstract class GrpcServiceCalls {

    final TripleSides sides = new TripleSides();
    final List<AutoCloseable> open = new ArrayList<>();

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable closed : open) {
            closed.close();
        }
        sides.close();
    }

    GrpcPeer peer(ServiceExport export) {
        GrpcPeer peer = new GrpcPeer(
                sides.serve(limits -> limits, server -> server.export(export)).port());
        open.add(peer);
        return peer;
    }

    LedgerBlockingStub blocking(BindableService service) {
        return LedgerGrpc.newBlockingStub(peer(GrpcServices.export(service)).channel());
    }

    LedgerStub async(BindableService service) {
        return LedgerGrpc.newStub(peer(GrpcServices.export(service)).channel());
    }

    static StatusRuntimeException assertFails(Code code, Runnable call) {
        AtomicReference<StatusRuntimeException> failure = new AtomicReference<>();
        assertThatThrownBy(call::run).isInstanceOfSatisfying(StatusRuntimeException.class, thrown -> {
            assertThat(thrown.getStatus().getCode()).isEqualTo(code);
            failure.set(thrown);
        });
        return failure.get();
    }

    static class Ignored<T> implements StreamObserver<T> {
        @Override
        public void onNext(T value) {
            // this observer ignores messages
        }

        @Override
        public void onError(Throwable failure) {
            // the failure is ignored, because the caller has cancelled the call
        }

        @Override
        public void onCompleted() {
            // the tests do not check the end of the stream, so nothing is recorded here
        }
    }

    /** Collects received answers. */
    static class Answers<T> implements StreamObserver<T> {
        final List<T> received = new CopyOnWriteArrayList<>();
        final CompletableFuture<Void> end = new CompletableFuture<>();

        List<T> all() {
            end.join();
            return received;
        }

        void await(int count) {
            Await.until(count + " answers", () -> received.size() >= count || end.isDone());
        }

        Code failure() {
            return end.handle((done, failure) -> Status.fromThrowable(failure).getCode())
                    .join();
        }

        @Override
        public void onNext(T value) {
            received.add(value);
        }

        @Override
        public void onError(Throwable failure) {
            end.completeExceptionally(failure);
        }

        @Override
        public void onCompleted() {
            end.complete(null);
        }
    }
}
