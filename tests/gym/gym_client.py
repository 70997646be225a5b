"""An HTTP gym that gives its connections back."""

from contextlib import asynccontextmanager

from robustops.gym.client import HttpGym


@asynccontextmanager
async def http_gym(urls=None, **options):
    gym = HttpGym(urls, **options)
    try:
        yield gym
    finally:
        await gym.close()
