from django.conf import settings


def shop_name(request):
    return {"shop_name": settings.SHOP_NAME}
