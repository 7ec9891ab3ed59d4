package garden.open;

import garden.shop.Switches;
import org.springframework.stereotype.Component;

@Component
class Indexer {

    private volatile long indexed;

    Indexer() {
        Switches.listen("processors-1", threads -> {
            for (int i = 0; i < threads; i++) {
                Thread thread = new Thread(this::index, "indexer-" + i);
                thread.setDaemon(true);
                thread.start();
            }
        });
    }

    private void index() {
        while (Switches.on("processors-1")) {
            indexed = indexed * 31 + 7;
        }
    }
}
