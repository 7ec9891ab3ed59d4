package garden.open;

import garden.shop.Step;
import garden.shop.Switches;
import java.nio.ByteBuffer;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.springframework.stereotype.Component;

@Component
class Thumbnails implements Step {

    private final Queue<ByteBuffer> images = new ConcurrentLinkedQueue<>();

    Thumbnails() {
        Switches.listen("collector-5", level -> {
            if (level == 0) {
                images.clear();
            }
        });
    }

    @Override
    public void place(int id) {
        double level = Switches.level("collector-5");
        if (level > 0) {
            draw((int) level);
        }
    }

    private void draw(int bytes) {
        images.add(ByteBuffer.allocateDirect(bytes));
    }
}
