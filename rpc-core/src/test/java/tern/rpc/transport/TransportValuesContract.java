package tern.rpc.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.math.BigDecimal;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.WireName;
import tern.rpc.server.ServiceExport;
import tern.rpc.transport.ContractService.Colour;
import tern.rpc.transport.ContractService.Item;
import tern.rpc.transport.ContractService.Point;
import tern.rpc.transport.ContractService.Refused;

/** Tests values, exceptions and default methods. */
interface TransportValuesContract extends TransportContract {

    private static Item item() {
        Item item = new Item();
        item.id = 1L << 40;
        item.weight = 2.5f;
        item.letter = 'é';
        item.size = -7;
        item.flags = (byte) 0x81;
        item.active = true;
        item.name = "hé中😀";
        item.colour = Colour.GREEN;
        item.price = new BigDecimal("12.50");
        item.made = Instant.ofEpochSecond(1_700_000_000L, 5);
        item.sold = LocalDate.of(2024, 1, 2);
        item.tags = new ArrayList<>(List.of("a", "b"));
        item.places = Map.of("home", new Point(1, 2));
        item.parent = new Item();
        return item;
    }

    @Test
    default void valuesOfEveryKindArriveAsTheyWere() {
        ContractService proxy = proxy();

        assertThat(proxy.echo("hello")).isEqualTo("hello");
        assertThat(proxy.echo(null)).isNull();
        assertThat(proxy.add(1, 2)).isEqualTo(3);
        assertThat(proxy.add(1L, 2L)).isEqualTo(1_003L);
        assertThat(proxy.item(item())).isEqualTo(item());
        assertThat(proxy.point(new Point(3, 4))).isEqualTo(new Point(4, 3));
        assertThat(proxy.colour(Colour.GREEN)).isSameAs(Colour.GREEN);
        assertThat(proxy.nested(Map.of("k", List.of(new Point(1, 1)))))
                .isEqualTo(Map.of("k", List.of(new Point(1, 1))));
        assertThat(proxy.bytes(new byte[] {0, 1, -1})).containsExactly(0, 1, -1);
        assertThat(proxy.byKeys(List.of(5L, 6L))).extracting(item -> item.id).containsExactly(5L, 6L);
    }

    @Test
    default void voidMethodReturnsAfterItRan() {
        proxy().nothing("done");

        assertThat(service().told).containsExactly("done");
    }

    @Test
    default void messageOfAMegabyteArrives() {
        byte[] large = new byte[1 << 20];
        large[large.length - 1] = 7;

        assertThat(proxy().bytes(large)).isEqualTo(large);
    }

    @Test
    default void proxyAnswersObjectMethodsAndDefaultMethodsItself() {
        ContractService proxy = proxy();

        assertThat(proxy.equals(proxy)).isTrue();
        assertThat(proxy.equals(null)).isFalse();
        assertThat(proxy.hashCode()).isEqualTo(proxy.hashCode());
        assertThat(proxy).hasToString("proxy of " + ContractService.class.getName());
    }

    @Test
    default void defaultMethodRunsAtTheProviderUnlessItIsLocal() {
        ContractService proxy = proxy();

        assertThat(proxy.greeting("Ann")).isEqualTo("welcome Ann");
        assertThat(proxy.shout("ann", String::toUpperCase)).isEqualTo("ANN");
    }

    /** A copy of {@link ContractService} without its default method, like the interface of an older provider. */
    @WireName("tern.rpc.transport.ContractService")
    interface OlderService {
        String echo(String text);
    }

    @Test
    default void defaultMethodThatAnOlderProviderDoesNotHaveRunsAtTheCaller() {
        serveOnly(ServiceExport.of(OlderService.class, text -> text));
        ContractService proxy = refer(client -> {}, reference -> {});

        assertThat(proxy.greeting("Ann")).isEqualTo("hello Ann");
        assertThatThrownBy(() -> proxy.header("x")).isInstanceOfSatisfying(RpcException.class, failure -> {
            assertThat(failure.code()).isEqualTo(StatusCode.UNIMPLEMENTED);
            assertThat(failure.wasExecuted()).isEqualTo(Executed.NO);
        });
    }

    @Test
    default void defaultMethodDoesNotHideThatTheServiceIsNotThere() {
        serveOnly(ServiceExport.of(OlderService.class, text -> text));
        for (ContractService proxy : List.of(
                refer(client -> {}, reference -> reference.version("2.0")),
                refer(client -> {}, reference -> reference.group("blue")))) {
            assertThatThrownBy(() -> proxy.greeting("Ann")).isInstanceOfSatisfying(RpcException.class, failure -> {
                assertThat(failure.code()).isEqualTo(StatusCode.UNIMPLEMENTED);
                assertThat(failure.wasExecuted()).isEqualTo(Executed.NO);
                assertThat(failure).hasMessageContaining("is not exported here");
            });
        }
    }

    @Test
    default void declaredExceptionArrivesWithItsFields() {
        assumeTrue(carriesExceptions());
        ContractService proxy = proxy();

        Refused refused = catchThrowableOfType(Refused.class, () -> proxy.fails("declared"));

        assertThat(refused).hasMessage("not today");
        assertThat(refused.code()).isEqualTo(42);
    }

    @Test
    default void standardExceptionArrivesTypedWithItsCause() {
        assumeTrue(carriesExceptions());
        ContractService proxy = proxy();

        assertThatThrownBy(() -> proxy.fails("standard"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("bad")
                .cause()
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("cause");
    }

    @Test
    default void exceptionUnknownToCallersIsDescribedInText() {
        assumeTrue(carriesExceptions());
        ContractService proxy = proxy();

        assertThatThrownBy(() -> proxy.fails("secret"))
                .isInstanceOfSatisfying(RpcException.class, failure -> {
                    assertThat(failure.code()).isEqualTo(StatusCode.UNKNOWN);
                    assertThat(failure.wasExecuted()).isEqualTo(Executed.YES);
                })
                .message()
                .matches("UNKNOWN: ContractService/fails at .+ failed with tern\\.rpc\\.StrangeException"
                        + " \\(logged by the server as [0-9a-f]{8}\\)");
    }

    @Test
    default void textOfAnExceptionThatCallersDoNotKnowIsSentIfTheServerAllowsIt() {
        assumeTrue(carriesExceptions());
        serve(settings -> settings.exceptionTexts(true));
        ContractService proxy = refer(client -> {}, reference -> {});

        assertThatThrownBy(() -> proxy.fails("secret"))
                .isInstanceOf(RpcException.class)
                .hasMessageContaining("tern.rpc.StrangeException: inner (logged by the server as ");
    }

    @Test
    default void errorOfTheServerIsNoErrorOfTheCaller() {
        assumeTrue(carriesExceptions());
        ContractService proxy = proxy();

        assertThatThrownBy(() -> proxy.fails("error"))
                .isInstanceOfSatisfying(RpcException.class, failure -> {
                    assertThat(failure.code()).isEqualTo(StatusCode.UNKNOWN);
                    assertThat(failure.wasExecuted()).isEqualTo(Executed.YES);
                })
                .hasMessageContaining("StackOverflowError");
    }

    @Test
    default void traceOfARemoteFailureHasOneFrameForTheServerAndThenTheCaller() {
        ContractService proxy = proxy();

        for (String how : List.of("declared", "standard", "secret", "error", "status")) {
            Throwable failure = catchThrowable(() -> proxy.fails(how));

            StackTraceElement[] frames = failure.getStackTrace();
            assertThat(frames[0].getClassName()).as(how).isEqualTo(ContractService.class.getName());
            assertThat(frames[0].getMethodName()).as(how).isEqualTo("fails");
            assertThat(frames[0].getFileName()).as(how).startsWith("on ");
            assertThat(frames[1].getClassName()).as(how).startsWith(TransportValuesContract.class.getName());
        }
    }

    @Test
    default void statusThatTheServiceChoseArrives() {
        ContractService proxy = proxy();

        RpcException failure = catchThrowableOfType(RpcException.class, () -> proxy.fails("status"));

        assertThat(failure.code()).isEqualTo(StatusCode.NOT_FOUND);
        assertThat(failure).hasMessageContaining("no such item");
        assertThat(failure.wasExecuted()).isEqualTo(Executed.YES);
    }

    @ParameterizedTest
    @EnumSource(value = StatusCode.class, mode = EnumSource.Mode.EXCLUDE, names = "OK")
    default void methodThatChoosesAStatusRan(StatusCode code) {
        ContractService proxy = proxy();

        RpcException failure =
                catchThrowableOfType(RpcException.class, () -> proxy.fails(ContractServer.STATUS + code));

        assertThat(failure.code()).isEqualTo(code);
        assertThat(failure.wasExecuted()).isEqualTo(Executed.YES);
    }
}
