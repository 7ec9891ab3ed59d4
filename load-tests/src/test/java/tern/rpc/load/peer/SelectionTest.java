package tern.rpc.load.peer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SelectionTest {

    @Test
    void shortRunIsTheDefault() {
        Selection selection = Selection.of();

        assertThat(selection.peers()).hasSizeLessThanOrEqualTo(5).startsWith("tern-dubbo", "dubbo-hessian2");
        assertThat(selection.scenes())
                .extracting(Scene::name)
                .containsExactly("existUser", "getUser", "listUser", "50KB");
        assertThat(selection.rounds()).isEqualTo(3);
        assertThat(selection.report()).isEqualTo(Path.of("load-tests/target/peers.html"));
    }

    @Test
    void longRunHasEverything() {
        Selection selection = Selection.of("--long", "--rounds=2");

        assertThat(selection.peers()).isEqualTo(Peer.CLEAR_TEXT);
        assertThat(selection.scenes()).isEqualTo(Scene.ALL);
        assertThat(selection.rounds()).isEqualTo(2);
    }

    @Test
    void optionsReplaceDefaults() {
        Selection selection = Selection.of(
                "--peers=tern-tri,tern-dubbo",
                "--scenes=mixed,1KB",
                "--millis=500",
                "--callers=7",
                "--report=some/page.html");

        assertThat(selection.peers()).containsExactly("tern-tri", "tern-dubbo");
        assertThat(selection.scenes())
                .containsExactly(
                        Scene.named("mixed").withCallers(7), Scene.named("1KB").withCallers(7));
        assertThat(selection.millis()).isEqualTo(500);
        assertThat(selection.report()).isEqualTo(Path.of("some/page.html"));
    }

    @Test
    void unknownNamesAreReportedWithTheKnownOnes() {
        assertThatThrownBy(() -> Selection.of("--peers=tern-dubbo,corba"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("'corba'")
                .hasMessageContaining("dubbo-hessian2");
        assertThatThrownBy(() -> Selection.of("--scenes=1MB"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("'1MB'")
                .hasMessageContaining("existUser");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"--rounds=0", "--rounds=100", "--millis=x", "--callers=", "--callers=1001", "--round=1", "3", ""
            })
    void invalidOptionIsRefused(String option) {
        assertThatThrownBy(() -> Selection.of(option))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageMatching("(?s).*(expected|--help).*");
    }

    @Test
    void helpNamesAllPeersAndScenes() {
        assertThat(Selection.HELP).contains(Peer.NAMES).contains(Scene.NAMES);
    }
}
