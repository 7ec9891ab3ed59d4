package garden.shop;

import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.stereotype.Component;

@Component
class Prices {

    private final StringRedisTemplate redis;

    Prices(StringRedisTemplate redis) {
        this.redis = redis;
        for (int i = 0; i < 50; i++) {
            redis.opsForValue().set("price:" + i, i + ".50");
        }
    }

    String of(int id) {
        return String.valueOf(redis.opsForValue().get("price:" + id % 50));
    }
}
