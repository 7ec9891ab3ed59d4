package tern.rpc.netty.peer;

import com.example.wire.Color;
import com.example.wire.Person;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Date;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Values in the calls that were captured from the reference implementation. */
public final class CapturedValues {

    private CapturedValues() {}

    public static Person ann() {
        Person bob = Person.named("Bob", 0);
        Person ann = Person.named("Ann", 30);
        ann.setId(5_000_000_000L);
        ann.setActive(true);
        ann.setColor(Color.GREEN);
        ann.setTags(new ArrayList<>(List.of("a", "b")));
        ann.setBalance(new BigDecimal("12.50"));
        ann.setBorn(new Date(894_621_091_000L));
        ann.setFriend(bob);
        return ann;
    }

    public static Map<String, Object> map() {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("a", 1);
        map.put("b", 2L);
        map.put("c", 1.5);
        map.put("d", true);
        return map;
    }
}
