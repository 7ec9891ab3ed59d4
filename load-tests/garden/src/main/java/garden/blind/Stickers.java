package garden.blind;

import garden.shop.Naps;
import garden.shop.Step;
import garden.shop.Switches;
import org.springframework.stereotype.Component;

@Component
class Stickers implements Step {

    private final Mail mail;

    Stickers(Mail mail) {
        this.mail = mail;
        Switches.listen("executors-4", level -> {
            if (level > 0) {
                Thread thread = new Thread(this::campaign, "campaign");
                thread.setDaemon(true);
                thread.start();
            }
        });
    }

    @Override
    public void place(int id) {
        if (Switches.on("executors-4")) {
            print(id);
        }
    }

    private void print(int id) {
        mail.sticker(id).join();
    }

    /** Submits slightly more work than the executor can handle. */
    private void campaign() {
        int millis = (int) Switches.level("executors-4");
        while (Switches.on("executors-4")) {
            mail.send(millis);
            Naps.millis(millis / 9);
        }
    }
}
