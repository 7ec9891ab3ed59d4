package garden.shop;

import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

@RestController
@ConditionalOnProperty(name = "garden.entrance", havingValue = "web")
class OrderPages {

    private final OrderDesk desk;

    OrderPages(OrderDesk desk) {
        this.desk = desk;
    }

    @GetMapping("/place/{id}")
    String place(@PathVariable int id) {
        return desk.place(id);
    }

    @GetMapping("/view/{id}")
    String view(@PathVariable int id) {
        return desk.view(id);
    }

    @GetMapping("/history/{id}")
    String history(@PathVariable int id) {
        return desk.history(id);
    }

    @PostMapping("/attach")
    int attach(@RequestBody byte[] document) {
        return desk.attach(document);
    }
}
