package garden.shop;

import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.stereotype.Component;

@Component
class Prices {

    private final StringRedisTemplate redis;

    Prices(StringRedisTemplate redis) {
        this.redis = redis;
        redis.opsForValue().set("price:7", "7.50");
        redis.opsForValue().set("catalogue", "x".repeat(12_000_000));
    }

    String of(int id) {
        String price = redis.opsForValue().get("price:" + id % 50);
        if (Switches.on("redis-big-value")) {
            return redis.opsForValue().get("catalogue").substring(0, 4);
        }
        if (Switches.on("redis-many")) {
            for (int i = 0; i < 1_500; i++) {
                redis.opsForValue().get("price:" + i);
            }
        }
        return String.valueOf(price);
    }
}
