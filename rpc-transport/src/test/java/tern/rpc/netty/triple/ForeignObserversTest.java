package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.grpc.stub.StreamObserver;
import org.junit.jupiter.api.Test;
import tern.rpc.ServiceDescriptor;

/** Tests interfaces that use the observer of another library instead of Tern's, which has the same simple name. */
class ForeignObserversTest {

    public interface Watched {
        void watch(String id, StreamObserver<String> states);
    }

    public interface Uploaded {
        StreamObserver<String> upload(tern.rpc.StreamObserver<String> result);
    }

    @Test
    void observerOfGrpcIsAnsweredWithTernsOwn() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ServiceDescriptor.of(Watched.class))
                .withMessageContaining(
                        "watch, parameter 2: io.grpc.stub.StreamObserver<java.lang.String> cannot be sent")
                .withMessageContaining("import tern.rpc.StreamObserver instead");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ServiceDescriptor.of(Uploaded.class))
                .withMessageContaining("import tern.rpc.StreamObserver instead");
    }
}
