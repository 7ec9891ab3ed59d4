package tern.rpc.load.peer;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tern.sample.api.EchoService;
import tern.sample.api.Person;

class SceneCallTest {

    private final BenchmarkServices services = new BenchmarkServices();

    static Stream<Scene> scenes() {
        return Stream.concat(Scene.ALL.stream().filter(scene -> !scene.streams()), Stream.of(Scene.STABILITY));
    }

    @ParameterizedTest
    @MethodSource("scenes")
    void answersOfEverySceneAreAccepted(Scene scene) {
        SceneCall call = SceneCall.of(scene.call(), new Peer.Services(services, services, services));

        for (int i = 0; i < 20; i++) {
            assertThat(call.isRight()).isTrue();
        }
    }

    @Test
    void changingTextsGrowAndShrinkBetween20BytesAnd200Kilobytes() {
        List<Integer> lengths = new ArrayList<>();
        EchoService echo = new EchoService() {
            @Override
            public String echo(String text) {
                lengths.add(text.length());
                return text;
            }

            @Override
            public Person echo(Person person) {
                return person;
            }
        };
        SceneCall call = new SceneCall.ChangingTexts(echo);

        for (int i = 0; i < 18; i++) {
            call.isRight();
        }

        assertThat(lengths)
                .containsExactly(
                        20, 20, 200, 200, 2_000, 2_000, 20_000, 20_000, 200_000, 200_000, 20_000, 20_000, 2_000, 2_000,
                        200, 200, 20, 20);
    }
}
