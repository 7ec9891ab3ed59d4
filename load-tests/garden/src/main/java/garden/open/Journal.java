package garden.open;

import garden.shop.Step;
import garden.shop.Switches;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.springframework.stereotype.Component;

@Component
class Journal implements Step {

    private final Path file;

    Journal() throws IOException {
        file = Files.createTempFile("journal", ".dat");
        file.toFile().deleteOnExit();
    }

    @Override
    public void place(int id) {
        double level = Switches.level("disk-1");
        if (level > 0) {
            note((int) level);
        }
    }

    private void note(int times) {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            for (int i = 0; i < times; i++) {
                channel.write(ByteBuffer.wrap(new byte[4_096]), i * 4_096L);
                channel.force(true);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
