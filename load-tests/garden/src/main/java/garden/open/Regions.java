package garden.open;

import garden.shop.Step;
import garden.shop.Switches;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.script.RedisScript;
import org.springframework.stereotype.Component;

/** Reads regions from Redis in ways that do not scale. */
@Component
class Regions implements Step {

    private static final int FILLED_AT_ONCE = 20_000;

    private final StringRedisTemplate redis;
    private final RedisConnectionFactory connections;
    private final Queue<RedisConnection> kept = new ConcurrentLinkedQueue<>();
    private volatile boolean isFilled;

    Regions(StringRedisTemplate redis, RedisConnectionFactory connections) {
        this.redis = redis;
        this.connections = connections;
        Switches.listen("redis-1", level -> fill((int) level));
        Switches.listen("redis-5", level -> {
            for (RedisConnection lost = kept.poll(); level == 0 && lost != null; lost = kept.poll()) {
                lost.close();
            }
        });
    }

    @Override
    public void place(int id) {
        if (Switches.on("round-1")) {
            each((int) Switches.level("round-1"));
        }
        if (Switches.on("round-3")) {
            all((int) Switches.level("round-3"));
        }
        if (Switches.on("redis-3")) {
            next();
        }
        if (Switches.on("redis-5") && id % 4 == 0) {
            touch();
        }
    }

    @Override
    public void history(int id) {
        if (isFilled) {
            list();
        }
    }

    private void fill(int keys) {
        isFilled = false; // Otherwise, the calls' commands would delay the script until it times out.
        if (keys == 0) {
            return;
        }
        RedisScript<Long> script = RedisScript.of(
                "for i = ARGV[1], ARGV[2] do redis.call('set', 'region:' .. i, i, 'ex', 60) end return 1", Long.class);
        // Each run of the Lua script sets only some of the keys, so that the run ends before Redis's read timeout.
        for (int first = 1; first <= keys; first += FILLED_AT_ONCE) {
            redis.execute(script, List.of(), String.valueOf(first), String.valueOf(first + FILLED_AT_ONCE - 1));
        }
        isFilled = true;
    }

    private void list() {
        redis.keys("region:*7777*");
    }

    private void each(int count) {
        for (int i = 0; i < count; i++) {
            redis.opsForValue().get("price:" + i % 50);
        }
    }

    private void all(int count) {
        for (int i = 0; i < count; i++) {
            redis.opsForValue().get("price:" + i % 50);
        }
    }

    private void next() {
        redis.opsForList().leftPop("jobs", Duration.ofSeconds(1));
    }

    private void touch() {
        RedisConnection connection = connections.getConnection();
        connection.keyCommands().exists(new byte[] {'a'});
        kept.add(connection);
    }
}
