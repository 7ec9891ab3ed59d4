package tern.rpc.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class RegistryUrlTest {

    @Test
    void partsAreRead() {
        RegistryUrl url =
                RegistryUrl.parse("zookeeper://me:se%40cret@10.0.0.9:2181,10.0.0.10:2181?group=shop&backup=h3:2181");

        assertThat(url.scheme()).isEqualTo("zookeeper");
        assertThat(url.user()).isEqualTo("me");
        assertThat(url.password()).isEqualTo("se@cret");
        assertThat(url.hosts()).containsExactly("10.0.0.9:2181", "10.0.0.10:2181", "h3:2181");
        assertThat(url.parameter("group", "")).isEqualTo("shop");
    }

    @Test
    void pathOfAFileIsRead() {
        RegistryUrl url = RegistryUrl.parse("file:///etc/providers.json");

        assertThat(url.hosts()).isEmpty();
        assertThat(url.path()).isEqualTo("/etc/providers.json");
        assertThat(url).hasToString("file:///etc/providers.json");
    }

    @Test
    void credentialsAreNeverShown() {
        assertThat(RegistryUrl.parse(
                        "zookeeper://me:secret@h:1?group=x&password=secret&ssl.keyStore.password=secret&username=me"))
                .asString()
                .doesNotContain("secret")
                .doesNotContain("=me")
                .contains("zookeeper://…@h:1?group=x&password=…&ssl.keyStore.password=…");
        assertThat(RegistryUrl.parse("zookeeper://secret@h:1")).asString().doesNotContain("secret");
    }

    @Test
    void otherTextsAreRefusedWithoutRepeatingThem() {
        for (String text : new String[] {
            "",
            "10.0.0.1:2181",
            "zookeeper:/secret",
            "zookeeper://a@b@secret",
            "zookeeper://me:secret/x@h",
            "zookeeper://me:secret?x@h:1"
        }) {
            assertThatThrownBy(() -> RegistryUrl.parse(text))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageNotContaining("secret");
        }
    }
}
