package tern.rpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.Empty;
import com.google.protobuf.StringValue;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Checks the table in docs/wire-protocol.md 3.4. */
class PayloadTest {

    interface Messages<T> {
        StringValue unary(StringValue in);

        CompletableFuture<StringValue> later(StringValue in);

        StringValue noParameter();

        T variable(T in);

        void down(StringValue in, StreamObserver<StringValue> out);

        StreamObserver<StringValue> both(StreamObserver<StringValue> out);

        String plain(String in, int more);

        void nothing();

        List<StringValue> list(List<StringValue> in);
    }

    interface Concrete extends Messages<StringValue> {}

    interface MessageIn {
        String call(StringValue in);
    }

    interface MessageOut {
        StringValue call(String in);
    }

    interface NoAnswer {
        void call(StringValue in);
    }

    interface Mixed {
        StringValue call(StringValue in, String more);
    }

    interface Two {
        StringValue call(StringValue one, Empty other);
    }

    interface MixedStream {
        void call(String in, StreamObserver<StringValue> out);
    }

    private static MethodDescriptor method(String name) {
        return ServiceDescriptor.of(Concrete.class).overloads(name).get(0);
    }

    @ParameterizedTest
    @ValueSource(strings = {"unary", "later", "noParameter", "variable", "down", "both"})
    void methodWithAtMostOneMessageAndAMessageAsResultUsesProtobuf(String name) {
        assertThat(method(name).payload()).isEqualTo(Payload.PROTOBUF);
    }

    @ParameterizedTest
    @ValueSource(strings = {"plain", "nothing", "list"})
    void methodWithoutMessagesUsesJavaValues(String name) {
        assertThat(method(name).payload()).isEqualTo(Payload.JAVA);
    }

    @ParameterizedTest
    @ValueSource(
            classes = {MessageIn.class, MessageOut.class, NoAnswer.class, Mixed.class, Two.class, MixedStream.class})
    void mixedTypesAndTwoMessagesAreRefused(Class<?> service) {
        assertThatThrownBy(() -> ServiceDescriptor.of(service))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith(service.getSimpleName() + ".call mixes protobuf messages and other types");
    }

    @Test
    void buildersAndInterfacesOfMessagesAreNoMessages() {
        assertThat(Payload.isMessage(StringValue.class)).isTrue();
        assertThat(Payload.isMessage(StringValue.Builder.class)).isFalse();
        assertThat(Payload.isMessage(com.google.protobuf.StringValueOrBuilder.class))
                .isFalse();
    }
}
