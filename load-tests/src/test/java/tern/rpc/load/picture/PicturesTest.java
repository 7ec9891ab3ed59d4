package tern.rpc.load.picture;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;

class PicturesTest {

    private static final Path ROOT = Path.of("..");

    @Test
    void committedPicturesEqualTheDrawnOnes() throws Exception {
        Map<String, String> drawn = Pictures.draw(ROOT);

        assertThat(drawn).hasSize(7);
        for (Map.Entry<String, String> picture : drawn.entrySet()) {
            assertThat(Files.readString(ROOT.resolve("docs/pictures").resolve(picture.getKey())))
                    .as("%s; load-tests/pictures writes it again", picture.getKey())
                    .isEqualTo(picture.getValue());
        }
    }
}
