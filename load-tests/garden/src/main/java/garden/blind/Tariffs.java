package garden.blind;

import garden.shop.Naps;
import garden.shop.Step;
import garden.shop.Switches;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.springframework.stereotype.Component;

@Component
class Tariffs implements Step {

    private final ReadWriteLock lock = new ReentrantReadWriteLock();
    private int version; // guarded by lock

    Tariffs() {
        Switches.listen("lock-2", level -> {
            if (level > 0) {
                Thread thread = new Thread(this::refresh, "tariffs");
                thread.setDaemon(true);
                thread.start();
            }
        });
    }

    @Override
    public void place(int id) {
        if (Switches.on("lock-2")) {
            lookUp();
        }
    }

    private int lookUp() {
        lock.readLock().lock();
        try {
            return version;
        } finally {
            lock.readLock().unlock();
        }
    }

    private void refresh() {
        while (Switches.on("lock-2")) {
            lock.writeLock().lock();
            try {
                version++;
                Naps.millis((int) Switches.level("lock-2"));
            } finally {
                lock.writeLock().unlock();
            }
            Naps.millis(150);
        }
    }
}
