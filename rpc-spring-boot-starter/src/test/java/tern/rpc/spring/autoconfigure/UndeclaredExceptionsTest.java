package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static tern.rpc.spring.autoconfigure.Applications.consumerOf;
import static tern.rpc.spring.autoconfigure.Applications.provider;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import tern.rpc.RpcException;
import tern.rpc.spring.RpcReference;
import tern.rpc.spring.RpcService;

/** Tests the error that JSON callers receive, and the log entry, for exceptions that a method does not declare. */
@ExtendWith(OutputCaptureExtension.class)
class UndeclaredExceptionsTest {

    public interface Till {
        String pay(int amount);
    }

    @RpcService
    static class Broken implements Till {
        @Override
        public String pay(int amount) {
            throw new IllegalArgumentException("no change for " + amount);
        }
    }

    static class User {
        @RpcReference
        Till till;
    }

    @Test
    void logHasOneEntryWithTheIdTheTextAndTheStackTrace(CapturedOutput output) {
        String id = failureOf("rpc.server.exception-texts=false").replaceAll("(?s).*server as ([0-9a-f]{8}).*", "$1");

        assertThat(output.toString().split("Till/pay failed with", -1)).hasSize(2);
        assertThat(output)
                .contains("Till/pay failed with an exception that callers do not know, so callers get"
                        + " java.lang.IllegalArgumentException (logged by the server as " + id
                        + "). To send a text, throw an RpcException such as new"
                        + " RpcException(StatusCode.INVALID_ARGUMENT, text), or declare the exception")
                .contains("no change for 5")
                .contains("at " + Broken.class.getName() + ".pay(");
    }

    @Test
    void textIsSentWhereTheServerAllowsIt(CapturedOutput output) {
        assertThat(failureOf("rpc.server.exception-texts=true"))
                .contains("java.lang.IllegalArgumentException: no change for 5 (logged by the server as ");
    }

    public static class Empty extends Exception {
        private static final long serialVersionUID = 1L;
    }

    public interface Safe {
        String open(boolean isAnonymous) throws Empty;
    }

    @RpcService
    static class Opened implements Safe {
        @Override
        public String open(boolean isAnonymous) throws Empty {
            if (isAnonymous) {
                // An anonymous class contains a reference to this service, which cannot be sent.
                throw new Empty() {
                    private static final long serialVersionUID = 1L;

                    @Override
                    public String getMessage() {
                        return "empty " + Opened.this.hashCode();
                    }
                };
            }
            throw new Empty();
        }
    }

    static class Owner {
        @RpcReference
        Safe safe;
    }

    @ParameterizedTest
    @ValueSource(strings = {"dubbo", "tri", "local"})
    void exceptionThatCannotBeSentAsItIsIsNamedWithTheReason(String protocol, CapturedOutput output) {
        provider(Opened.class, Owner.class)
                .withPropertyValues("rpc.client.url=local")
                .run(there -> {
                    if (protocol.equals("local")) {
                        assertUntyped(there);
                    } else {
                        consumerOf(there, Owner.class)
                                .withPropertyValues(
                                        "rpc.client.url=" + protocol + "://" + Applications.addressOf(there))
                                .run(UndeclaredExceptionsTest::assertUntyped);
                    }
                });

        assertThat(output)
                .containsOnlyOnce("Callers do not get " + Opened.class.getName() + "$1 but another class, because the"
                        + " exception cannot be sent: ")
                .contains("do not throw anonymous or inner classes");
    }

    private static void assertUntyped(ApplicationContext application) {
        Safe safe = application.getBean(Owner.class).safe;

        assertThatExceptionOfType(Empty.class).isThrownBy(() -> safe.open(false));
        assertThatExceptionOfType(RuntimeException.class).isThrownBy(() -> safe.open(true));
    }

    private static String failureOf(String texts) {
        String[] failure = new String[1];
        provider(Broken.class)
                .withPropertyValues(texts)
                .run(there -> consumerOf(there, User.class)
                        .withPropertyValues("rpc.client.url=http://" + Applications.addressOf(there))
                        .run(here -> assertThatExceptionOfType(RpcException.class)
                                .isThrownBy(() -> here.getBean(User.class).till.pay(5))
                                .satisfies(thrown -> failure[0] = thrown.getMessage())));
        return failure[0];
    }
}
