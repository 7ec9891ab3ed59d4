package garden.open;

import garden.shop.Naps;
import garden.shop.Step;
import garden.shop.Switches;
import java.util.concurrent.locks.ReentrantLock;
import org.springframework.stereotype.Component;

@Component
class Numbers implements Step {

    private final ReentrantLock book = new ReentrantLock();

    @Override
    public void place(int id) {
        double level = Switches.level("lock-1");
        if (level > 0) {
            next((int) level);
        }
    }

    private void next(int millis) {
        book.lock();
        try {
            Naps.millis(millis);
        } finally {
            book.unlock();
        }
    }
}
