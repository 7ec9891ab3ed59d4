package garden.blind;

import garden.shop.Step;
import garden.shop.Switches;
import java.util.List;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.script.DefaultRedisScript;
import org.springframework.stereotype.Component;

@Component
class Catalogues implements Step {

    private static final DefaultRedisScript<Long> RANK = new DefaultRedisScript<>(
            "local n = 0 for i = 1, tonumber(ARGV[1]) do n = (n * 31 + i) % 7919 end return n", Long.class);

    private final StringRedisTemplate redis;

    @SuppressWarnings("unused") // The field stores the result, so that the JIT compiler cannot remove the computation.
    private volatile int length;

    Catalogues(StringRedisTemplate redis) {
        this.redis = redis;
        Switches.listen("redis-2", level -> {
            if (level > 0) {
                redis.opsForValue().set("catalogue:summer", "x".repeat((int) level));
            } else {
                redis.delete("catalogue:summer");
            }
        });
    }

    @Override
    public void history(int id) {
        if (Switches.on("redis-2")) {
            length = String.valueOf(redis.opsForValue().get("catalogue:summer")).length();
        }
        if (Switches.on("redis-4")) {
            rank((int) Switches.level("redis-4"));
        }
    }

    private void rank(int steps) {
        redis.execute(RANK, List.of(), String.valueOf(steps));
    }
}
