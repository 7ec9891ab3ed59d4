package tern.rpc.registry.dubbo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.ServiceKey;

/** Tests interface-level entries that were captured from Dubbo 3.3.6. */
class ProviderUrlTest {

    private static final String CAPTURED =
            "dubbo://192.0.2.2:20880/cap.Greeting?application=demo-provider&deprecated=false&dubbo=2.0.2&dynamic=true"
                    + "&generic=false&interface=cap.Greeting&metadata-type=local&methods=add,boom,greet"
                    + "&prefer.serialization=hessian2,fastjson2&release=3.3.6&service-name-mapping=true&side=provider"
                    + "&timestamp=1795370749178&weight=50";

    @Test
    void capturedUrlIsReadAndWrittenUnchanged() {
        ProviderUrl url = ProviderUrl.parse(CAPTURED);

        assertThat(url.protocol()).isEqualTo("dubbo");
        assertThat(url.host()).isEqualTo("192.0.2.2");
        assertThat(url.port()).isEqualTo(20880);
        assertThat(url.parameter("weight")).isEqualTo("50");
        assertThat(url.service()).isEqualTo(new ServiceKey("cap.Greeting", "", ""));
        assertThat(url).hasToString(CAPTURED);
    }

    @Test
    void nameOfANodeIsEncodedAsUrlEncoderDoes() {
        String node = ProviderUrl.parse(CAPTURED).node();

        assertThat(node).startsWith("dubbo%3A%2F%2F192.0.2.2%3A20880%2Fcap.Greeting%3Fapplication%3Ddemo-provider%26");
        assertThat(node).contains("methods%3Dadd%2Cboom%2Cgreet");
        assertThat(ProviderUrl.parseNode(node)).hasToString(CAPTURED);
    }

    @Test
    void groupAndVersionLeaveThePathAsItIs() {
        ProviderUrl url = ProviderUrl.parse(
                "tri://192.0.2.2:50051/cap.Greeting?group=g1&interface=cap.Greeting&revision=1.2.3&version=1.2.3");

        assertThat(url.service()).isEqualTo(new ServiceKey("cap.Greeting", "g1", "1.2.3"));
        assertThat(url.path()).isEqualTo("cap.Greeting");
    }

    @Test
    void urlWithoutParametersIsReadByItsPath() {
        ProviderUrl url = ProviderUrl.parse("dubbo://127.0.0.1:20890/cap.Greeting");

        assertThat(url.service()).isEqualTo(new ServiceKey("cap.Greeting", "", ""));
        assertThat(url.parameters()).isEmpty();
    }

    @Test
    void ipv6HasBracketsInTheTextAlone() {
        ProviderUrl url = ProviderUrl.parse("dubbo://[2001:db8::7]:20880/cap.Greeting?interface=cap.Greeting");

        assertThat(url.host()).isEqualTo("2001:db8::7");
        assertThat(url.port()).isEqualTo(20880);
        assertThat(url).hasToString("dubbo://[2001:db8::7]:20880/cap.Greeting?interface=cap.Greeting");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "?",
                "dubbo",
                "://",
                "a=b?dubbo://x",
                "dubbo://",
                "dubbo:///cap.Greeting",
                "dubbo://host:port/x",
                "dubbo://host:99999/x",
                "dubbo://host:-1/x",
                "dubbo://ho st:1/x",
                "dubbo://a\nb:1/x",
                "dubbo://a\u202eb:1/x"
            })
    void invalidUrlIsRefusedWithoutLineBreaksInTheMessage(String text) {
        assertThatThrownBy(() -> ProviderUrl.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageNotContaining("\n");
    }

    @Test
    void tooManyParametersAndTooLongNamesAreRefused() {
        StringBuilder many = new StringBuilder("dubbo://h:1/x?");
        for (int i = 0; i <= Limits.MAX_KEYS; i++) {
            many.append("k").append(i).append("=v&");
        }

        assertThatThrownBy(() -> ProviderUrl.parse(many.toString()))
                .hasMessageContaining("the number of parameters is 257, more than 256");
        assertThatThrownBy(() -> ProviderUrl.parseNode("x".repeat(Limits.MAX_ENTRY + 1)))
                .hasMessageContaining("the length of the name is 65537, more than 65536");
        assertThatThrownBy(() -> ProviderUrl.parseNode("dubbo%")).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void userInTheAddressIsDropped() {
        assertThat(ProviderUrl.parse("dubbo://me:secret@10.0.0.1:1/x?a=b").toString())
                .isEqualTo("dubbo://10.0.0.1:1/x?a=b");
    }

    @Test
    void parametersAreSorted() {
        ProviderUrl url = new ProviderUrl("dubbo", "h", 1, "x", Map.of("b", "2", "a", "1"));

        assertThat(url).hasToString("dubbo://h:1/x?a=1&b=2");
    }
}
