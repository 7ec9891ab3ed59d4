package tern.rpc.serialization.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import java.text.SimpleDateFormat;
import java.util.Date;
import java.util.List;
import org.junit.jupiter.api.Test;
import tern.rpc.serialization.SerializationException;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.json.JsonReadFeature;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.SerializationContext;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.ValueDeserializer;
import tools.jackson.databind.ValueSerializer;
import tools.jackson.databind.cfg.DateTimeFeature;
import tools.jackson.databind.cfg.EnumFeature;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.jsontype.BasicPolymorphicTypeValidator;
import tools.jackson.databind.module.SimpleModule;

/** Tests which settings of the application's mapper also apply to the codec. */
class JsonCodecTest {

    record Money(String currency, long cents) {}

    record Order(Money totalPrice, Date orderedOn, Thread.State state) {}

    @JsonTypeInfo(use = JsonTypeInfo.Id.CLASS)
    interface Named {}

    record Plain(int number) implements Named {}

    interface Orders {
        Order order(Order order);

        void named(Named named);

        void texts(List<String> texts);
    }

    private static class MoneyReader extends ValueDeserializer<Money> {
        @Override
        public Money deserialize(JsonParser parser, DeserializationContext context) {
            String[] parts = context.readTree(parser).stringValue().split(" ");
            return new Money(parts[0], Long.parseLong(parts[1]));
        }
    }

    private static class MoneyWriter extends ValueSerializer<Money> {
        @Override
        public void serialize(Money money, JsonGenerator generator, SerializationContext context) {
            generator.writeString(money.currency() + " " + money.cents());
        }
    }

    private static Texts order(JsonMapper.Builder mapper) {
        return Texts.of(new JsonCodec(mapper.build()), Orders.class, "order");
    }

    @Test
    void modulesAndNamingOfTheUserAreKept() {
        Texts order = order(JsonMapper.builder()
                .addModule(new SimpleModule()
                        .addDeserializer(Money.class, new MoneyReader())
                        .addSerializer(Money.class, new MoneyWriter()))
                .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE));

        assertThat(order.written(new Order(new Money("EUR", 5), null, null))).isEqualTo("{\"total_price\":\"EUR 5\"}");
        assertThat(order.argument("{\"total_price\":\"EUR 5\"}")).isEqualTo(new Order(new Money("EUR", 5), null, null));
    }

    @Test
    void formsThatTheOtherSideReliesOnAreOurs() {
        Texts order = order(JsonMapper.builder()
                .defaultDateFormat(new SimpleDateFormat("dd.MM.yy"))
                .enable(DateTimeFeature.WRITE_DATES_AS_TIMESTAMPS)
                .enable(EnumFeature.WRITE_ENUMS_TO_LOWERCASE, EnumFeature.WRITE_ENUMS_USING_INDEX)
                .enable(SerializationFeature.INDENT_OUTPUT, SerializationFeature.WRAP_ROOT_VALUE)
                .enable(DeserializationFeature.UNWRAP_ROOT_VALUE));
        Order some = new Order(null, new Date(0), Thread.State.NEW);

        assertThat(order.written(some)).isEqualTo("{\"orderedOn\":\"1970-01-01T00:00:00.000Z\",\"state\":\"NEW\"}");
        assertThat(order.argument(order.written(some))).isEqualTo(some);
    }

    @Test
    void theUserMayWriteNullsAndRefuseUnknownProperties() {
        Texts order = order(JsonMapper.builder()
                .changeDefaultPropertyInclusion(all -> all.withValueInclusion(JsonInclude.Include.ALWAYS))
                .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES));

        assertThat(order.written(new Order(null, null, null)))
                .isEqualTo("{\"totalPrice\":null,\"orderedOn\":null,\"state\":null}");
        assertThatThrownBy(() -> order.argument("{\"totalPrice\":{\"secret\":1}}"))
                .isInstanceOf(SerializationException.class)
                .hasMessage("Orders/order, parameter 1 (order) at $.totalPrice.secret: there is no such property");
    }

    @Test
    void featuresOfTheUsersParserAreKept() {
        Texts order = order(JsonMapper.builder().enable(JsonReadFeature.ALLOW_JAVA_COMMENTS));

        assertThat(order.argument("/* nothing */ {}")).isEqualTo(new Order(null, null, null));
    }

    @Test
    void theUsersMapperIsNotChanged() {
        JsonMapper mapper = new JsonMapper();

        new JsonCodec(mapper);

        assertThat(mapper.readValue("[".repeat(100) + "]".repeat(100), Object.class))
                .isNotNull();
        assertThat(mapper.writeValueAsString(new Order(null, null, null))).contains("null");
    }

    @Test
    void aMapperWithDefaultTypingIsRefused() {
        JsonMapper typed = JsonMapper.builder()
                .activateDefaultTyping(BasicPolymorphicTypeValidator.builder()
                        .allowIfSubType("tern.")
                        .build())
                .build();

        assertThatThrownBy(() -> new JsonCodec(typed))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("the JsonMapper has default typing active, with which JSON names classes; give RPC a mapper"
                        + " without it (leave out activateDefaultTyping and setDefaultTyping)");
    }

    @Test
    void annotationsThatLetJsonNameClassesAreRefused() {
        Texts named = Texts.of(new JsonCodec(new JsonMapper()), Orders.class, "named");

        assertThatThrownBy(() -> named.argument("{\"@class\":\"" + Plain.class.getName() + "\",\"number\":1}"))
                .isInstanceOf(SerializationException.class)
                .hasMessageContaining("denied resolution");
        assertThat(named.method().warnings()).singleElement().asString().contains("denied resolution");
    }
}
