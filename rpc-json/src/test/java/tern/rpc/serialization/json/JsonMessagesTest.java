package tern.rpc.serialization.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.google.protobuf.ListValue;
import com.google.protobuf.NullValue;
import com.google.protobuf.StringValue;
import com.google.protobuf.Value;
import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.serialization.SerializationException;
import tern.rpc.serialization.protobuf.test.Item;

/** Tests protobuf messages as arguments and results, both directly and inside Java types. */
class JsonMessagesTest {

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    record Cart(String owner, List<Item> items, Map<String, Item> gifts) {}

    interface Shop {
        StringValue hello(StringValue v);

        Item item(Item i);

        List<Item> items(List<Item> l);

        Cart cart(Cart c);

        ListValue list(ListValue l);

        Value any(Value v);
    }

    private static final Item TEA =
            Item.newBuilder().setName("tea").setPriceCents(5).build();

    private static Texts method(String name) {
        return Texts.of(Shop.class, name);
    }

    @Test
    void messagesHaveTheirCanonicalForm() {
        assertThat(method("hello").argument("\"pb\"")).isEqualTo(StringValue.of("pb"));
        assertThat(method("hello").argument("[\"pb\"]")).isEqualTo(StringValue.of("pb"));
        assertThat(method("hello").writtenResult(StringValue.of("hi pb"))).isEqualTo("\"hi pb\"");
        assertThat(method("item").argument("{\"name\":\"tea\",\"priceCents\":\"5\",\"unknown\":[{}]}"))
                .isEqualTo(TEA);
        assertThat(method("item").arguments("{\"name\":\"tea\",\"price_cents\":5}", true))
                .containsExactly(TEA);
        assertThat(method("item").written(TEA)).isEqualTo("{\"name\":\"tea\",\"priceCents\":\"5\"}");
        assertThat(method("item").argument("null")).isNull();
    }

    @Test
    void messagesInsideJavaTypesHaveTheirCanonicalFormToo() {
        Cart cart = new Cart("Ann", List.of(TEA, Item.getDefaultInstance()), Map.of("a", TEA));
        Texts carts = method("cart");

        assertThat(carts.writtenResult(cart)).contains("\"items\":[{\"name\":\"tea\",\"priceCents\":\"5\"},{}]");
        assertThat(carts.result(carts.writtenResult(cart))).isEqualTo(cart);
        assertThat(method("items").argument("[{\"name\":\"tea\",\"priceCents\":5}]"))
                .isEqualTo(List.of(TEA));
    }

    @Test
    void wellKnownTypesAreTheJsonTheyStandFor() {
        Value nothing = Value.newBuilder().setNullValue(NullValue.NULL_VALUE).build();
        Texts any = method("any");

        assertThat(any.argument("null")).isEqualTo(nothing);
        assertThat(any.written(nothing)).isEqualTo("null");
        assertThat(any.written(any.argument("{\"a\":[1.5,true,null,\"x\"]}")))
                .isEqualTo("{\"a\":[1.5,true,null,\"x\"]}");
        assertThat(((ListValue) method("list").argument("[\"a\"]")).getValuesCount())
                .isEqualTo(1);
    }

    @Test
    void aQueryMakesMessages() {
        assertThat(method("hello").query("v=pb")).containsExactly(StringValue.of("pb"));
        assertThat(method("item").query("name=tea&priceCents=5")).containsExactly(TEA);
        assertThat(method("item").query("i={\"name\":\"tea\",\"priceCents\":5}"))
                .containsExactly(TEA);
    }

    @Test
    void theLimitsOfJsonHoldInsideMessages() {
        String deep = "{\"part\":".repeat(65) + "{}" + "}".repeat(65);

        assertThatThrownBy(() -> method("item").argument(deep)).hasMessageContaining("nested deeper than 64");
        assertThatThrownBy(() -> method("item").argument("{\"name\":\"a\",\"name\":\"b\"}"))
                .hasMessageContaining("the same name twice");
        assertThatThrownBy(() -> method("item").argument("{\"weight\":" + "1".repeat(101) + "}"))
                .hasMessageContaining("at most 100 are read");
        assertThatThrownBy(() -> method("item").argument("{name:1}")).isInstanceOf(SerializationException.class);
    }

    @Test
    void messagesNameThePathAndNeverTheValue() {
        assertThatThrownBy(() -> method("cart").argument("{\"items\":[{},{\"priceCents\":\"secret\"}]}"))
                .isInstanceOf(SerializationException.class)
                .hasMessage("Shop/cart, parameter 1 (c) at $.items[1]: expected " + Item.class.getName())
                .hasNoCause();
        assertThatThrownBy(() -> method("item").argument("\"secret\""))
                .hasMessage("Shop/item, parameter 1 (i): expected " + Item.class.getName());
    }

    @ParameterizedTest
    @Timeout(60)
    @ValueSource(
            strings = {
                "{\"priceCents\":\"%s\"}",
                "{\"weight\":\"%s\"}",
                "{\"weight\":\"1.%s\"}",
                "{\"weight\":\"%sx\"}",
                "{\"stock\":{\"a\":\"%s\"}}",
                "{\"kind\":\"%s\"}",
                "{\"added\":\"%s\"}",
                "{\"added\":\"2026-01-02T03:04:05.%sZ\"}",
                "{\"priceCents\":1e999999999}",
                "{\"priceCents\":1e-999999999}",
                "{\"priceCents\":\"1e999999999\"}",
                "{\"stock\":{\"a\":1e999999999}}",
                "{\"stock\":{\"a\":\"1e-999999999\"}}",
                "{\"weight\":1e999999999}",
                "{\"weight\":\"1e-999999999\"}"
            })
    void aLongRowOfDigitsCostsLittle(String template) {
        Texts item = method("item");
        String json = String.format(template, "1".repeat(1 << 18));
        Throwable first = catchThrowable(() -> item.argument(json));
        long cpu = THREADS.getCurrentThreadCpuTime();
        long bytes = THREADS.getCurrentThreadAllocatedBytes();

        Throwable second = catchThrowable(() -> item.argument(json));

        assertThat(THREADS.getCurrentThreadAllocatedBytes() - bytes).isLessThan(16L << 20);
        assertThat(THREADS.getCurrentThreadCpuTime() - cpu).isLessThan(TimeUnit.MILLISECONDS.toNanos(250));
        assertThat(second == null).isEqualTo(first == null);
    }

    @Test
    void longTextThatIsNoNumberIsRead() {
        String digits = "1".repeat(4096);
        String text = "1".repeat(5000) + " ";

        assertThat(method("item").argument("{\"name\":\"" + digits + "\"}"))
                .isEqualTo(Item.newBuilder().setName(digits).build());
        assertThat(method("item").argument("{\"name\":\"" + text + "\"}"))
                .isEqualTo(Item.newBuilder().setName(text).build());
        assertThatThrownBy(() -> method("item").argument("{\"name\":\"" + digits + "1\"}"))
                .hasMessageEndingWith("a text of 4097 digits; at most 4096 are allowed in a protobuf message");
    }
}
