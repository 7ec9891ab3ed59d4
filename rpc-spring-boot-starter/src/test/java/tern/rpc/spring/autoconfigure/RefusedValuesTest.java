package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static tern.rpc.spring.autoconfigure.Applications.consumerOf;
import static tern.rpc.spring.autoconfigure.Applications.provider;

import java.io.Serializable;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import tern.rpc.RpcException;
import tern.rpc.StatusCode;
import tern.rpc.spring.RpcReference;
import tern.rpc.spring.RpcService;

/** Tests calls with arguments that the constructor of their class rejects when the server decodes them. */
@ExtendWith(OutputCaptureExtension.class)
class RefusedValuesTest {

    /**
     * True if the constructor rejects negative amounts. The value is false while the test creates the argument in the
     * role of the caller.
     */
    private static final AtomicBoolean REFUSES = new AtomicBoolean();

    public record Amount(int amount) implements Serializable {
        public Amount {
            if (REFUSES.get() && amount < 0) {
                throw new IllegalArgumentException("amount must not be negative: " + amount);
            }
        }
    }

    /** A record whose accessor throws an exception. */
    public record Label(String text) implements Serializable {
        @Override
        public String text() {
            throw new IllegalStateException("no label today");
        }
    }

    public interface Shop {
        void put(String name, Amount value);

        Label label();
    }

    @RpcService
    static class Shelf implements Shop {
        @Override
        public void put(String name, Amount value) {}

        @Override
        public Label label() {
            return new Label("tea");
        }
    }

    static class User {
        @RpcReference
        Shop shop;
    }

    @ParameterizedTest
    @ValueSource(strings = {"dubbo", "http"})
    void messageOfTheConstructorIsLoggedUnderTheIdThatTheCallerGets(String protocol, CapturedOutput output) {
        REFUSES.set(false);
        Amount negative = new Amount(-1);

        provider(Shelf.class)
                .run(there -> consumerOf(there, User.class)
                        .withPropertyValues("rpc.client.url=" + protocol + "://" + Applications.addressOf(there))
                        .run(here -> {
                            Shop shop = here.getBean(User.class).shop;
                            REFUSES.set(true);

                            assertThatExceptionOfType(RpcException.class)
                                    .isThrownBy(() -> shop.put("tea", negative))
                                    .satisfies(failure -> {
                                        String text = failure.getMessage();
                                        assertThat(failure.code()).isEqualTo(StatusCode.INVALID_ARGUMENT);
                                        assertThat(text)
                                                .matches("(?s).*java.lang.IllegalArgumentException"
                                                        + " \\(its message is logged as [0-9a-f]{8}\\).*")
                                                .doesNotContain("negative");
                                        String id = text.replaceAll("(?s).*is logged as ([0-9a-f]{8}).*", "$1");
                                        assertThat(output)
                                                .contains("could not be read (" + id
                                                        + "): java.lang.IllegalArgumentException:"
                                                        + " amount must not be negative: -1");
                                    });
                        }));
    }

    @Test
    void messageOfAGetterIsLoggedUnderTheIdThatTheCallerGets(CapturedOutput output) {
        provider(Shelf.class)
                .run(there -> consumerOf(there, User.class)
                        .withPropertyValues("rpc.client.url=http://" + Applications.addressOf(there))
                        .run(here -> assertThatExceptionOfType(RpcException.class)
                                .isThrownBy(() -> here.getBean(User.class).shop.label())
                                .satisfies(failure -> {
                                    String text = failure.getMessage();
                                    assertThat(failure.code()).isEqualTo(StatusCode.INTERNAL);
                                    assertThat(text)
                                            .matches("(?s).*result at \\$\\.text could not be written:"
                                                    + " java.lang.IllegalStateException"
                                                    + " \\(its message is logged as [0-9a-f]{8}\\).*")
                                            .doesNotContain("today");
                                    String id = text.replaceAll("(?s).*is logged as ([0-9a-f]{8}).*", "$1");
                                    assertThat(output)
                                            .contains("could not be written (" + id
                                                    + "): java.lang.IllegalStateException: no label today");
                                })));
    }
}
