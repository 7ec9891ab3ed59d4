package tern.rpc.spring.autoconfigure;

import org.springframework.boot.availability.AvailabilityChangeEvent;
import org.springframework.boot.availability.ReadinessState;
import org.springframework.context.ApplicationListener;
import tern.rpc.health.HealthService;
import tern.rpc.health.ServingStatus;

/**
 * Sets the health of the whole server to SERVING while Boot reports the application as ready, which is after its
 * runners.
 */
final class HealthReadiness implements ApplicationListener<AvailabilityChangeEvent<ReadinessState>> {

    private final HealthService health;

    HealthReadiness(HealthService health) {
        this.health = health;
        health.set(ServingStatus.NOT_SERVING);
    }

    @Override
    public void onApplicationEvent(AvailabilityChangeEvent<ReadinessState> event) {
        boolean ready = event.getState() == ReadinessState.ACCEPTING_TRAFFIC;
        health.set(ready ? ServingStatus.SERVING : ServingStatus.NOT_SERVING);
    }
}
